# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""hashes.json: chunk hashes from the real TokenHasher, kv_rank and object keys from ObjectKey."""

import random

import real
import values
from typed_json import typed

EDGE = [0, 1, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1]
BLEND_PREFIX = (0xB1ED).to_bytes(8, "big")  # where the blend chains of 0.4.2 begin
CHUNK_SIZES = (1, 2, 3, 7, 16, 32, 64, 255, 256, 257, 512, 1024)


def token_lists(chunk_size):
    rng = random.Random(f"kvconform tokens {chunk_size}")
    yield []
    for n in sorted(
        {chunk_size - 1, chunk_size, chunk_size + 1, 2 * chunk_size, 3 * chunk_size + 1}
    ):
        if n <= 2049:
            yield [rng.randrange(2**32) for _ in range(n)]
    yield [0] * chunk_size
    yield [2**32 - 1] * chunk_size
    if chunk_size <= 64:
        yield EDGE * (1 + 2 * chunk_size // len(EDGE))
        yield list(range(4 * chunk_size))


def chain(hasher, tokens, start=0, end=None, prefix=None):
    row = {"chunk_size": hasher.chunk_size, "tokens": tokens}
    if prefix is not None:
        row["prefix"] = prefix.hex()
    if start or end is not None:
        row |= {"start": start, "end": end}
    try:
        row["hashes"] = [h.hex() for h in hasher.compute_chunk_hashes(tokens, prefix, start, end)]
    except Exception as error:
        row["error"] = f"{type(error).__name__}: {error}"
    return row


def chains():
    for chunk_size in CHUNK_SIZES:
        hasher = real.TokenHasher(chunk_size)
        for tokens in token_lists(chunk_size):
            yield chain(hasher, tokens)
    hasher = real.TokenHasher(16)
    tokens = list(range(100, 180))
    for start, end in (
        (0, 0),
        (0, 16),
        (16, 48),
        (32, 80),
        (80, 80),
        (0, 96),
        (64, 160),
        (48, 16),
        (5, 37),
    ):
        yield chain(hasher, tokens, start, end)
    for prefix in (bytes(32), hasher.none_hash, b"\xff" * 32, BLEND_PREFIX):
        yield chain(hasher, tokens, prefix=prefix)
    for bad in (-1, 2**32, 2**64 - 1):
        yield chain(hasher, [7] * 15 + [bad])
        yield chain(hasher, [7] * 16 + [bad])  # in the tail: never hashed


def kv_ranks():
    for world in (0, 1, 2, 4, 8, 255, 256, 2**32):
        for rank in (0, 1, 7, 254, 255, 256):
            yield {
                "world_size": world,
                "worker_id": rank,
                "kv_rank": typed(real.api.ObjectKey.ComputeKVRank(world, rank, world, rank)),
            }


def object_keys():
    hashes = [bytes(range(32)), b"\xff" * 32]
    keys = [
        values.key(),
        values.key(world_size=4, worker_id=3),
        values.key(world_size=4, worker_id=None),
    ]
    keys += [
        values.key(cache_salt="user-7"),
        values.key(world_size=2, worker_id=None, cache_salt="é"),
    ]
    keys += [
        values.key(world_size=0, worker_id=None),
        values.key(world_size=-1, worker_id=None),
        values.key(worker_id=-1),
    ]
    keys += [values.key(world_size=1, worker_id=5), values.key(world_size=300, worker_id=299)]
    keys += [
        values.key(model_name="a@b"),
        values.key(model_name="a/b\\c"),
        values.key(model_name=""),
    ]
    for key in keys:
        for chosen in ([], hashes[:1], hashes):
            row = {"key": typed(key), "hashes": [h.hex() for h in chosen]}
            try:
                made = real.api.ipc_key_to_object_keys(key, chosen)
                row["object_keys"] = [typed(k) for k in made]
            except Exception as error:
                row["error"] = f"{type(error).__name__}: {error}"
            yield row


def make(out):
    header = {
        "how": "TokenHasher(chunk_size, 'blake3').compute_chunk_hashes; "
        "ObjectKey.ComputeKVRank; ipc_key_to_object_keys",
        "none_hash": real.TokenHasher(256).none_hash.hex(),
    }
    out.document(
        "hashes.json",
        header,
        chains=list(chains()),
        kv_ranks=list(kv_ranks()),
        object_keys=list(object_keys()),
    )
