# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""accept/ and reject/: every frame is put before the real decoder, which files it."""

import real
import values
from judge import judge
from msgpack_tree import node_of, write
from mutations import all_mutations
from random_frames import random_frames
from special_frames import special_frames
from variants import all_variants, longest_forms

# How many values of a type are varied and mutated in every way; the rest are written in
# the shortest and the longest forms. All of them where the type is simple.
NUM_VARIED = {
    "IPCCacheEngineKey": 4, "KVCache": 5, "list[BlockAllocationRecord]": 4,
    "list[CBMatchResult]": 3, "list[int]": 8, "list[tuple[int, int]]": 5, "tuple[bytes, bool]": 6,
}  # fmt: skip
NUM_MUTATED = {
    **NUM_VARIED, "KVCache": 2, "str": 12, "bytes": 8, "LayoutHints": 8, "int": 12,
    "int | None": 12,
}  # fmt: skip
ALL = 1000000


def candidates(name):
    """(label, frame) of a type, before anybody has judged them."""
    for i, value in enumerate(values.SMALL[name]):
        tree = node_of(value)
        assert write(tree) == real.encode(name, value), (name, value)
        yield "shortest", write(tree)
        yield from all_variants(tree) if i < NUM_VARIED.get(name, ALL) else [longest_forms(tree)]
    for i, value in enumerate(values.SMALL[name]):
        if i < NUM_MUTATED.get(name, ALL):
            yield from all_mutations(node_of(value))
    yield from special_frames(name)
    yield from random_frames(name)
    for value in values.LONG.get(name, []):
        tree = node_of(value)
        yield "shortest", write(tree)
        yield from all_long(tree)


def all_long(tree):
    frame = write(tree)
    yield "truncated", frame[:3]
    yield "truncated", frame[: len(frame) // 256]


def sort(name):
    accept, reject, seen = [], [], set()
    for label, tree in candidates(name):
        frame = tree if isinstance(tree, bytes) else write(tree)
        if frame in seen:
            continue
        seen.add(frame)
        verdict = judge(name, frame)
        if verdict.accepted:
            accept.append({"hex": frame.hex(), **verdict.row, "encoding": label})
        else:
            reject.append({"hex": frame.hex(), **verdict.row, "mutation": label})
    return accept, reject


HOW = {
    "accept": "frames that msgspec_decode of lmcache.v1.multiprocess.mq accepts; "
    "emit is msgspec_encode of the value, where it is not the frame itself",
    "reject": "frames that msgspec_decode of lmcache.v1.multiprocess.mq refuses, with its error",
}
# Where the real encoder's bytes are no rule for another encoder.
EMIT = {"LayoutHints": "any map order", "KVCache": "by value"}


def make(out):
    counts = {}
    for name, (_, file) in real.TYPES.items():
        accept, reject = sort(name)
        for verdict, rows in (("accept", accept), ("reject", reject)):
            header = {"verdict": verdict, "type": name, "count": len(rows), "how": HOW[verdict]}
            if verdict == "accept" and name in EMIT:
                header["emit"] = EMIT[name]
            out.lines(f"{verdict}/{file}.jsonl", header, rows)
        counts[name] = (len(accept), len(reject))
    return counts
