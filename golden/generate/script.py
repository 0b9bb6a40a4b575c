# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Script: the requests that messages/ records, in order. An engine registers, stores, looks up,
retrieves and leaves. Each step is (request type, what it shows, payloads)."""

import real
import shared_memory
import values
from real import EngineType, Match
from shared_memory import event_handle, tensor

CHUNK = 32  # tokens; the server is to be started with --chunk-size 32
INSTANCE, MODEL = 7001, "kvc-golden/model"
LAYER = (2, 16, 16, 2, 8)  # kv, blocks, block size, heads, head size
BLEND = (2, 2, 256, 16)  # kv, layers, tokens, hidden size
TOKENS = list(range(1000, 1064))
PROBE_TRIES = 1000


def layers():
    return [tensor(f"layer-{i}", LAYER) for i in range(2)]


def memory():
    """The shared buffers that the script's wrappers name."""
    sizes = {f"layer-{i}": size for i, (_, size) in enumerate(layers())}
    return shared_memory.buffers({**sizes, "blend": tensor("blend", BLEND)[1]})


def key(request_id, worker_id=0, tokens=TOKENS, start=0, end=2 * CHUNK, salt=""):
    return values.key(MODEL, 1, worker_id, tokens, start, end, request_id, salt)


def wait_until_found(quiet, chunks):
    """STORE answers before its objects can be found: looks, unrecorded, until they are."""
    for i in range(PROBE_TRIES):
        probe = key(f"probe-{i}", None)
        quiet("LOOKUP", probe, 1)
        while (found := quiet("QUERY_PREFETCH_STATUS", probe.request_id)[2]) is None:
            pass
        if found:
            quiet("FREE_LOOKUP_LOCKS", key(probe.request_id, None, end=found * CHUNK), 1)
        quiet("END_SESSION", probe.request_id)
        if found == chunks:
            return
    raise SystemExit(f"{chunks} chunks were stored and never found")


def wait_until_looked_up(quiet, request_id):
    while quiet("QUERY_PREFETCH_LOOKUP_HITS", request_id)[2] is None:
        pass


def require_chunk_size(quiet):
    chunk_size = quiet("GET_CHUNK_SIZE")[2]
    if chunk_size != CHUNK:
        raise SystemExit(f"start the server with --chunk-size {CHUNK}; it has {chunk_size}")


def server_steps(quiet):
    require_chunk_size(quiet)
    yield "NOOP", "alive", ()
    yield "PING", "alive", ()
    yield "GET_CHUNK_SIZE", "tokens of a chunk", ()
    yield "CLEAR", "an empty store", ()
    caches = [wrapper for wrapper, _ in layers()]
    hints = {"kv_layout": "NHD", "inference_engine_logical_block_size": 16}
    yield (
        "REGISTER_KV_CACHE",
        "two layers, NHD",
        (INSTANCE, caches, MODEL, 1, EngineType.VLLM, hints),
    )
    yield (
        "REGISTER_KV_CACHE",
        "again: answered, without effect",
        (INSTANCE, caches, MODEL, 1, EngineType.VLLM, {}),
    )
    yield "QUERY_PREFETCH_STATUS", "unknown request: 0", ("nobody",)
    yield "QUERY_PREFETCH_LOOKUP_HITS", "unknown request: 0", ("nobody",)
    yield (
        "STORE",
        "two chunks from four blocks",
        (key("store-1"), INSTANCE, [0, 1, 2, 3], event_handle()),
    )
    wait_until_found(quiet, 2)
    yield (
        "STORE",
        "the same again: skipped, and true",
        (key("store-2"), INSTANCE, [0, 1, 2, 3], event_handle()),
    )
    yield "LOOKUP", "both chunks, for all workers", (key("load-1", None), 1)
    wait_until_looked_up(quiet, "load-1")
    yield "QUERY_PREFETCH_LOOKUP_HITS", "2, and it stays", ("load-1",)
    yield "QUERY_PREFETCH_STATUS", "2, once", ("load-1",)
    yield "QUERY_PREFETCH_STATUS", "consumed: 0", ("load-1",)
    yield (
        "RETRIEVE",
        "into other blocks",
        (key("load-1"), INSTANCE, [8, 9, 10, 11], event_handle(), 0),
    )
    yield (
        "RETRIEVE",
        "the locks are used up: false",
        (key("load-1"), INSTANCE, [8, 9, 10, 11], event_handle(), 0),
    )
    yield "LOOKUP", "to be given back", (key("load-2", None), 1)
    wait_until_looked_up(quiet, "load-2")
    yield "QUERY_PREFETCH_STATUS", "2", ("load-2",)
    yield "FREE_LOOKUP_LOCKS", "gives both chunks back", (key("load-2", None), 1)
    yield "LOOKUP", "a salt of its own finds nothing", (key("load-3", None, salt="user-7"), 1)
    wait_until_looked_up(quiet, "load-3")
    yield "QUERY_PREFETCH_STATUS", "0", ("load-3",)
    records = [
        values.record("load-1", [8, 9], [1000, 1001, 2**32 - 1]),
        values.record("load-2", [], []),
    ]
    yield "REPORT_BLOCK_ALLOCATION", "two records", (INSTANCE, MODEL, records)
    yield "REPORT_BLOCK_ALLOCATION", "none", (INSTANCE, MODEL, [])
    yield "END_SESSION", "a known one", ("load-1",)
    yield "END_SESSION", "an unknown one", ("nobody",)
    yield "UNREGISTER_KV_CACHE", "a known one", (INSTANCE,)
    yield "UNREGISTER_KV_CACHE", "an unknown one", (2**40,)
    yield "CLEAR", "leave nothing", ()


def blend_steps(quiet):
    require_chunk_size(quiet)
    yield "CLEAR", "an empty store", ()
    # LOOKUP answers 0 for a model that no plain instance registered, and wait_until_found looks up.
    plain = [wrapper for wrapper, _ in layers()]
    yield (
        "REGISTER_KV_CACHE",
        "a plain instance of the same model",
        (INSTANCE + 1, plain, MODEL, 1, EngineType.VLLM, {"kv_layout": "NHD"}),
    )
    yield (
        "CB_REGISTER_KV_CACHE",
        "one tensor: kv, layers, tokens, hidden",
        (INSTANCE, [tensor("blend", BLEND)[0]], MODEL, 1),
    )
    yield "CB_LOOKUP_PRE_COMPUTED_V2", "nothing stored: no match", (key("blend-1", None),)
    yield (
        "CB_STORE_PRE_COMPUTED",
        "two chunks from token 64 of the buffer",
        (key("blend-2"), 64, INSTANCE, event_handle()),
    )
    wait_until_found(quiet, 2)
    query = [5, 6, 7, *TOKENS[CHUNK:], 8, *TOKENS[:CHUNK]]
    matches = [
        Match(CHUNK, 2 * CHUNK, 3, 3 + CHUNK, HASHES[1]),
        Match(0, CHUNK, 4 + CHUNK, 4 + 2 * CHUNK, HASHES[0]),
    ]
    question = key("blend-3", None, query, 0, len(query))
    yield "CB_LOOKUP_PRE_COMPUTED_V2", "both chunks, at other places", (question,)
    loaded = key("blend-3", 0, query, 0, len(query))
    yield (
        "CB_RETRIEVE_PRE_COMPUTED_V2",
        "to token 128 of the buffer",
        (loaded, matches, 128, INSTANCE, event_handle()),
    )
    yield (
        "CB_RETRIEVE_PRE_COMPUTED_V2",
        "the locks are used up: false",
        (loaded, matches, 128, INSTANCE, event_handle()),
    )
    yield (
        "CB_STORE_FINAL",
        "the same chunks: skipped, and true",
        (key("blend-4"), 0, INSTANCE, event_handle()),
    )
    yield "CB_UNREGISTER_KV_CACHE", "a known one", (INSTANCE,)
    yield "CB_UNREGISTER_KV_CACHE", "an unknown one", (2**40,)
    yield "UNREGISTER_KV_CACHE", "the plain instance", (INSTANCE + 1,)
    yield "CLEAR", "leave nothing", ()


HASHES = real.TokenHasher(CHUNK).compute_chunk_hashes(TOKENS)


def encoder_steps():
    """(type, what it shows, payloads, result)"""
    ranges = [(0, 32), (40, 104)]
    event = event_handle()
    yield "CB_LOOKUP_PRE_COMPUTED", "two paragraphs found", (key("blend-5", None),), ranges
    yield "CB_LOOKUP_PRE_COMPUTED", "nothing found", (key("blend-6", None),), []
    yield (
        "CB_RETRIEVE_PRE_COMPUTED",
        "done",
        (key("blend-5"), ranges, 128, INSTANCE, event),
        (event, True),
    )
    yield (
        "CB_RETRIEVE_PRE_COMPUTED",
        "refused",
        (key("blend-5"), [], 128, INSTANCE, b""),
        (b"", False),
    )
    yield "QUERY_PREFETCH_STATUS", "still in progress: no third frame", ("load-1",), None
    yield "QUERY_PREFETCH_LOOKUP_HITS", "still in progress: no third frame", ("load-1",), None
    yield "QUERY_PREFETCH_STATUS", "done", ("load-1",), 1024
    yield "PING", "a no that 0.4.5 never says", (), False
    yield "GET_CHUNK_SIZE", "the default", (), 256
    yield "STORE", "refused in words", (key("store-9"), INSTANCE, [], b""), (b"", False)
    yield "RETRIEVE", "refused in words", (key("load-9"), INSTANCE, [0], event, 16), (b"", False)
