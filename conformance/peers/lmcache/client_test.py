# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""LMCache's own Python client against a server: every request of an engine's life, exact bytes.

    client_test.py --start 'build/bin/kvserver --bind tcp://127.0.0.1:{port} --chunk-size 32'
    client_test.py --start 'conformance/peers/lmcache/start --port {port} --chunk-size 32'
    client_test.py --target tcp://127.0.0.1:5555

Ends with "N passed, N failed"; the exit code is 1 when one failed.

With --lenient, for LMCache 0.4.5 itself: a test may take three tries, since its STORE publishes just after the
returned event completes (the referee's SHOULD events.visible-at-once), so a LOOKUP in between finds nothing; and
the server may end on SIGTERM with SIGABRT, since a thread of its own may still run then.
"""

import argparse
import contextlib
import os
import random
import shlex
import signal
import socket
import subprocess
import sys
import time
import traceback

import host_client
import host_memory
import torch
import zmq
from host_client import Engine, shared_tensor, wrap, wrap_raw
from lmcache.utils import EngineType
from lmcache.v1.multiprocess.custom_types import BlockAllocationRecord
from lmcache.v1.multiprocess.protocol import RequestType

NUM_BLOCKS, BLOCK_SIZE, HEADS, HEAD_SIZE, LAYERS = 24, 16, 3, 8, 2
TESTS = []


def test(function):
    TESTS.append((function.__name__, function))
    return function


def same_bytes(left, right):
    return torch.equal(left.contiguous().view(torch.uint8), right.contiguous().view(torch.uint8))


class Buffers:
    """The layers of one engine, and how to see one block of a layer."""

    def __init__(self, shapes, dtypes, block_axis, stride0=None, permute=None):
        made = [shared_tensor(s, d, stride0) for s, d in zip(shapes, dtypes)]
        self.memory = [tensor for tensor, _ in made]
        self.views = [t.permute(permute) if permute else t for t in self.memory]
        self.names = [name for _, name in made]
        self.block_axis = block_axis
        generator = torch.Generator().manual_seed(1)
        for tensor in self.memory:
            size = tensor.shape[0] * tensor.stride(0)
            whole = tensor.as_strided((size,), (1,)).view(torch.uint8)
            whole.copy_(torch.randint(0, 256, whole.shape, generator=generator))

    def block(self, layer, number):
        return self.memory[layer].select(self.block_axis, number)

    def snapshot(self):
        return [
            t.as_strided((t.shape[0] * t.stride(0),), (1,)).view(torch.uint8).clone()
            for t in self.memory
        ]


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def round_trip(endpoint, chunk, buffers, wrappers, engine_type=EngineType.VLLM, hints=None):
    """Store two chunks from shuffled blocks, look up, retrieve into others, compare everything."""
    engine = Engine(endpoint, wrappers, engine_type, hints)
    check(engine.register() is None, "REGISTER_KV_CACHE has no result")
    block_tokens = (hints or {}).get("inference_engine_logical_block_size", BLOCK_SIZE)
    count = 2 * chunk // block_tokens
    blocks = random.Random(2).sample(range(NUM_BLOCKS), 2 * count)
    source, target = blocks[:count], blocks[count:]
    tokens = range(7, 7 + 2 * chunk + 5)
    key = engine.key(tokens, 0, 2 * chunk, "round-trip")

    check(engine.lookup(key) == 0, "nothing is there before")
    before = buffers.snapshot()
    check(engine.store(key, source) is True, "STORE answers True")
    after = buffers.snapshot()
    check(all(map(torch.equal, before, after)), "STORE writes nothing")
    check(engine.lookup(key) == 2, "both chunks are found")
    check(engine.retrieve(key, target) is True, "RETRIEVE answers True")
    for layer in range(len(buffers.memory)):
        for old, new in zip(source, target):
            check(
                same_bytes(buffers.block(layer, old), buffers.block(layer, new)),
                f"layer {layer}: block {new} is not what was stored from block {old}",
            )
    # With the old bytes put back where RETRIEVE wrote, all must be as it was: padding, other blocks.
    for layer, tensor in enumerate(buffers.memory):
        old = before[layer].view(tensor.dtype).as_strided(tensor.shape, tensor.stride())
        for number in target:
            buffers.block(layer, number).copy_(old.select(buffers.block_axis, number))
    unchanged = all(map(torch.equal, before, buffers.snapshot()))
    check(unchanged, "RETRIEVE changed bytes outside of its blocks")
    check(engine.retrieve(key, target) is False, "the locks are used up")
    check(engine.end(key.request_id) is None, "END_SESSION has no result")
    check(engine.call(RequestType.UNREGISTER_KV_CACHE, engine.instance_id) is None, "UNREGISTER")


def layers_test(name, shape, block_axis, hints=None, dtypes=None, wrapper=wrap, **more):
    def run(endpoint, chunk):
        kinds = dtypes or [torch.bfloat16] * LAYERS
        buffers = Buffers([shape] * len(kinds), kinds, block_axis, **more)
        wrappers = [wrapper(view, n) for view, n in zip(buffers.views, buffers.names)]
        round_trip(endpoint, chunk, buffers, wrappers, hints=hints)

    TESTS.append((f"round_trip_{name}", run))


NB, BS, NH, HS = NUM_BLOCKS, BLOCK_SIZE, HEADS, HEAD_SIZE
HND = {"kv_layout": "HND"}
layers_test("two_nb_bs_nh_hs", (2, NB, BS, NH, HS), 1, {"kv_layout": "NHD"})
layers_test("two_nb_bs_nh_hs_without_a_hint", (2, NB, BS, NH, HS), 1)
layers_test("two_nb_nh_bs_hs", (2, NB, NH, BS, HS), 1, HND)
layers_test("nb_two_bs_nh_hs", (NB, 2, BS, NH, HS), 0)
layers_test("nb_two_nh_bs_hs", (NB, 2, NH, BS, HS), 0, HND)
layers_test("nb_bs_hs", (NB, BS, HS), 0)
layers_test("nb_bs_hs_padded", (NB, BS, HS), 0, stride0=BS * HS + 24)
layers_test("raw_wrapper", (2, NB, BS, NH, HS), 1, wrapper=wrap_raw)
# vLLM shows HND memory as an NHD view; the wrapper sends the memory's own order.
layers_test("permuted_view", (2, NB, NH, BS, HS), 1, HND, permute=(0, 1, 3, 2, 4))
for kind in (torch.uint8, torch.float8_e4m3fn, torch.float16, torch.float32):
    label = str(kind).removeprefix("torch.")
    layers_test(label, (2, NB, BS, NH, HS), 1, dtypes=[kind] * LAYERS)
layers_test("mixed_dtypes", (2, NB, BS, NH, HS), 1, dtypes=[torch.float16, torch.float32] * 2)


@test
def round_trip_mixed_and_compressed_groups(endpoint, chunk):
    shapes = [(NB, BS, HS), (NB, BS // 4, 2 * HS), (NB, BS, HS)]
    buffers = Buffers(shapes, [torch.bfloat16, torch.uint8, torch.bfloat16], 0)
    wrappers = [wrap(view, name) for view, name in zip(buffers.views, buffers.names)]
    hints = {"inference_engine_logical_block_size": BS}
    round_trip(endpoint, chunk, buffers, wrappers, hints=hints)


@test
def round_trip_nb_nl_two_nh_bs_hs_of_trtllm(endpoint, chunk):
    buffers = Buffers([(NB, LAYERS, 2, NH * BS * HS)], [torch.float16], 0)
    wrappers = [wrap_raw(buffers.views[0], buffers.names[0])]
    hints = {"num_kv_heads": NH, "tokens_per_block": BS, "head_dim": HS}
    round_trip(endpoint, chunk, buffers, wrappers, EngineType.TRTLLM, hints)


@contextlib.contextmanager
def registered_engine(endpoint):
    buffers = Buffers([(2, NB, BS, NH, HS)] * LAYERS, [torch.float16] * LAYERS, 1)
    wrappers = [wrap(view, name) for view, name in zip(buffers.views, buffers.names)]
    engine = Engine(endpoint, wrappers)
    engine.register()
    yield engine, buffers
    engine.call(RequestType.UNREGISTER_KV_CACHE, engine.instance_id)


@test
def requests_without_a_buffer(endpoint, chunk):
    engine = Engine(endpoint)
    check(engine.call(RequestType.NOOP) == "OK", "NOOP answers OK")
    check(engine.call(RequestType.PING) is True, "PING answers True")
    check(engine.call(RequestType.GET_CHUNK_SIZE) == chunk, "GET_CHUNK_SIZE")
    record = BlockAllocationRecord(req_id="r", new_block_ids=[1, 2], new_token_ids=[3])
    answer = engine.call(RequestType.REPORT_BLOCK_ALLOCATION, 1, engine.model, [record])
    check(answer is None, "REPORT_BLOCK_ALLOCATION has no result")
    check(engine.call(RequestType.QUERY_PREFETCH_STATUS, "nobody") == 0, "unknown request id")
    check(engine.end("nobody") is None, "END_SESSION of an unknown id")


@test
def query_is_consumed_and_hits_are_not(endpoint, chunk):
    with registered_engine(endpoint) as (engine, _):
        key = engine.key(range(3 * chunk), 0, 3 * chunk, "query")
        check(engine.store(key, range(3 * chunk // BS)) is True, "STORE")
        engine.call(RequestType.LOOKUP, key.no_worker_id_version(), 1)
        while (hits := engine.call(RequestType.QUERY_PREFETCH_LOOKUP_HITS, "query")) is None:
            pass
        check(hits == 3, f"3 chunks are hits, not {hits}")
        check(engine.call(RequestType.QUERY_PREFETCH_LOOKUP_HITS, "query") == 3, "not consumed")
        check(engine.call(RequestType.QUERY_PREFETCH_STATUS, "query") == 3, "the status")
        check(engine.call(RequestType.QUERY_PREFETCH_STATUS, "query") == 0, "consumed")
        check(engine.free(key) is None, "FREE_LOOKUP_LOCKS has no result")


@test
def free_gives_the_locks_back(endpoint, chunk):
    with registered_engine(endpoint) as (engine, buffers):
        key = engine.key(range(2 * chunk), 0, 2 * chunk, "free")
        blocks = range(2 * chunk // BS)
        check(engine.store(key, blocks) is True, "STORE")
        check(engine.lookup(key) == 2, "LOOKUP")
        engine.free(key)
        before = buffers.snapshot()
        check(engine.retrieve(key, [b + 8 for b in blocks]) is False, "no lock, no RETRIEVE")
        check(all(map(torch.equal, before, buffers.snapshot())), "the target is untouched")


@test
def retrieve_skips_tokens(endpoint, chunk):
    with registered_engine(endpoint) as (engine, buffers):
        key = engine.key(range(chunk), 0, chunk, "skip")
        count = chunk // BS
        source, target = range(count), range(count, 2 * count)
        check(engine.store(key, source) is True, "STORE")
        check(engine.lookup(key) == 1, "LOOKUP")
        first = buffers.block(0, target[0]).clone()
        check(engine.retrieve(key, target, BS) is True, "RETRIEVE")
        check(same_bytes(buffers.block(0, target[0]), first), "the skipped block is untouched")
        for old, new in list(zip(source, target))[1:]:
            check(same_bytes(buffers.block(0, old), buffers.block(0, new)), f"block {new}")


@test
def a_tenant_sees_only_its_own(endpoint, chunk):
    with registered_engine(endpoint) as (engine, _):
        mine = engine.key(range(chunk), 0, chunk, "mine", cache_salt="tenant-a")
        other = engine.key(range(chunk), 0, chunk, "other", cache_salt="tenant-b")
        check(engine.store(mine, range(chunk // BS)) is True, "STORE")
        check(engine.lookup(other) == 0, "another salt finds nothing")
        check(engine.lookup(mine) == 1, "the same salt finds it")
        engine.free(mine)


@test
def clear_forgets_everything(endpoint, chunk):
    with registered_engine(endpoint) as (engine, _):
        key = engine.key(range(chunk), 0, chunk, "clear")
        check(engine.store(key, range(chunk // BS)) is True, "STORE")
        check(engine.lookup(key) == 1, "LOOKUP")
        check(engine.call(RequestType.CLEAR) is None, "CLEAR has no result")
        check(engine.lookup(engine.key(range(chunk), 0, chunk, "after")) == 0, "nothing is left")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def chunk_size_of(endpoint, timeout_s):
    """GET_CHUNK_SIZE, asked until it is answered: the server may still be starting."""
    return Engine(endpoint).submit(RequestType.GET_CHUNK_SIZE).result(timeout=timeout_s)


def run_test(function, endpoint, chunk, tries):
    for left in range(tries - 1, -1, -1):
        try:
            return function(endpoint, chunk)
        except AssertionError as error:
            if left == 0:
                raise
            print(f"again  {function.__name__}: {error}")


def run_tests(endpoint, name_filter, lenient):
    chunk = chunk_size_of(endpoint, timeout_s=60)
    check(chunk % BLOCK_SIZE == 0 and 4 * chunk <= NUM_BLOCKS * BLOCK_SIZE, "--chunk-size 32 or so")
    failed, began = 0, time.monotonic()
    chosen = [(name, function) for name, function in TESTS if name_filter in name]
    for name, function in chosen:
        try:
            run_test(function, endpoint, chunk, tries=3 if lenient else 1)
        except Exception as error:
            failed += 1
            print(f"FAILED {name}: {type(error).__name__}: {error}")
            if not isinstance(error, (AssertionError, TimeoutError)):
                traceback.print_exc()
        else:
            print(f"ok     {name}")
    print(f"in {time.monotonic() - began:.1f} s")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 0 if chosen and not failed else 1


@contextlib.contextmanager
def started(command, lenient):
    """Runs a server on a free port; it must end well on SIGTERM and leave no shared memory."""
    port = free_port()
    words = shlex.split(command.replace("{port}", str(port)))
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        yield f"tcp://127.0.0.1:{port}"
        check(process.poll() is None, f"the server ended by itself: {process.returncode}")
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
    left = [n for n in os.listdir("/dev/shm") if f"-{process.pid}-" in n]
    fine = (0, -signal.SIGABRT) if lenient else (0,)
    check(process.returncode in fine, f"SIGTERM: exit code {process.returncode}")
    check(not left, f"shared memory left behind: {left}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--start", help="command that starts the server, with {port}")
    where.add_argument("--target", help="endpoint of a server that runs")
    parser.add_argument("--filter", default="", help="only the tests whose name holds this")
    parser.add_argument("--lenient", action="store_true", help="what LMCache 0.4.5 cannot help; see above")
    options = parser.parse_args()
    if options.target:
        return run_tests(options.target, options.filter, options.lenient)
    with started(options.start, options.lenient) as endpoint:
        return run_tests(endpoint, options.filter, options.lenient)


if __name__ == "__main__":
    sys.exit(main())
