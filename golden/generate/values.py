# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Values: for each payload and result type, values at and around every limit. Small ones are also
the seeds of mutations; long ones are only encoded and decoded."""

import real
from real import EngineType, Key, Match, Record
from wrappers import handle_64, handle_66, raw_wrapper, torch_handle, wrapper

# Around the border of every integer form, both signs, and what JSON cannot hold.
INTS = sorted(
    {0, 1, -1, 2, 42, 2**53 - 1, 2**53, 2**53 + 1, -(2**53), -(2**53) - 1}
    | {b + d for b in (2**5, 2**7, 2**8, 2**15, 2**16, 2**31, 2**32, 2**63) for d in (-2, -1, 0, 1)}
    | {-b + d for b in (2**5, 2**7, 2**8, 2**15, 2**16, 2**31, 2**32) for d in (-1, 0, 1)}
    | {-(2**63), -(2**63) + 1, 2**64 - 2, 2**64 - 1}
)
LENGTHS = (0, 1, 2, 15, 16, 17, 31, 32, 33, 254, 255, 256, 257)
LONG_LENGTHS = (65535, 65536)
TEXTS = [
    "model",
    "OK",
    "\x00",
    "a\x00b",
    "\x7f",
    "\x80",
    "\u07ff",
    "\u0800",
    "\ud7ff",
    "\ue000",
    "\ufeff",
    "\uffff",
    "\U00010000",
    "\U0010ffff",
    "é",
    "漢字",
    "🦊",
    "e\u0301",
    "\u2028",
    'quote " \\ /',
    "é" * 15,
    "é" * 16,
    "漢" * 10,
    "漢" * 11,
    "🦊" * 7,
    "🦊" * 8,
    "🦊" * 63,
    "🦊" * 64,
]


def texts():
    return TEXTS + ["x" * n for n in LENGTHS]


def blobs():
    return [bytes(i % 256 for i in range(n)) for n in LENGTHS] + [
        b"\xc1",
        b"\xff" * 3,
        handle_64(),
        b"\x00" * 32,
    ]


def int_lists():
    lists = [
        [],
        [0],
        [1, 2, 3],
        [2**64 - 1],
        [-(2**63)],
        [0, 2**32 - 1, 2**32],
        [-1, -33, 127, 128],
        INTS,
    ]
    return (
        lists
        + [[i % 128 for i in range(n)] for n in LENGTHS]
        + [[i * 257 for i in range(n)] for n in (16, 255)]
    )


def key(
    model_name="m",
    world_size=1,
    worker_id=0,
    token_ids=(1, 2),
    start=0,
    end=2,
    request_id="r",
    cache_salt="",
):
    return Key(
        model_name, world_size, worker_id, tuple(token_ids), start, end, request_id, cache_salt
    )


def keys():
    salts = [
        "",
        "s",
        "é" * 128,
        "漢" * 128,
        "🦊" * 128,
        "x" * 127,
        "x" * 128,
        " :;%",
        "\x01\x7f",
        "\ufeff\u2028",
    ]
    out = [
        key(),
        key(worker_id=None, cache_salt="s"),
        key(token_ids=()),
        key("é", 2, 1, [0, 2**32 - 1], 256, 512, "🦊"),
    ]
    out += [key(token_ids=range(32), end=32), key(end=2**64 - 1)]
    out += [key(cache_salt=s) for s in salts[1:]]
    out += [key(world_size=n) for n in (0, -1, 8, 255, 256, 2**32, 2**63, 2**64 - 1)]
    out += [key(worker_id=n) for n in (1, -1, 255, 2**32, -(2**63), 2**64 - 1)]
    out += [key(token_ids=t) for t in ([0, 2**32 - 1], [-1], [2**32], [2**64 - 1, -(2**63)])]
    out += [key(start=n, end=n) for n in (127, 128, 2**16, -1)]
    out += [
        key(model_name=t, request_id=t)
        for t in ("", "a@b/c\\d\x00", "🦊漢é", "meta-llama/Llama-3.1-8B", "x" * 32)
    ]
    return out + [key(token_ids=[i % 128 for i in range(n)]) for n in (15, 16, 255, 256)]


def record(req_id="r", new_block_ids=(1,), new_token_ids=(5, 6)):
    return Record(req_id, list(new_block_ids), list(new_token_ids))


def record_lists():
    one = [
        record(),
        record(req_id=""),
        record(new_block_ids=(), new_token_ids=()),
        record("🦊", [-1], [2**64 - 1]),
    ]
    one += [record(new_block_ids=range(n)) for n in (15, 16, 255)]
    return [[]] + [[r] for r in one] + [one[:2], [record(str(i), (), ()) for i in range(16)]]


def match(old_st=0, old_ed=256, cur_st=7, cur_ed=263, hash=b"\x5a" * 4):
    return Match(old_st, old_ed, cur_st, cur_ed, hash)


def match_lists():
    one = [
        match(),
        match(hash=b""),
        match(hash=bytes(range(32))),
        match(-1, 2**64 - 1, -(2**63), 2**63),
    ]
    return [[]] + [[m] for m in one] + [one[:2], [match(hash=b"")] * 16]


def hints():
    names = list(real.LayoutHints.__annotations__)[1:]
    out = [{}, {"kv_layout": "NHD"}, {"kv_layout": "HND"}]
    out += [{name: n} for name in names for n in (0, 16)] + [
        {names[0]: n} for n in (-1, 128, 2**32, 2**64 - 1)
    ]
    full = {"kv_layout": "HND", **{name: 8 * i for i, name in enumerate(names, 1)}}
    return out + [full, {k: full[k] for k in list(full)[:2]}, dict(reversed(full.items()))]


def caches():
    small = {"shape": (2, 8), "stride": (8, 1)}
    out = [[], [wrapper()], [raw_wrapper()], [wrapper(), raw_wrapper()], [wrapper(**small)] * 3]
    out += [[wrapper(torch_handle(memory=handle_66(v)), **small)] for v in (2, 3)]
    out += [
        [wrapper(torch_handle(memory=handle_64()), **small)],
        [wrapper(torch_handle(memory=handle_66(1, b"e")), **small)],
    ]
    out += [[wrapper(dtype=d, **small)] for d in ("float16", "float32", "uint8", "float8_e4m3fn")]
    return out + [
        [wrapper(shape=())],
        [wrapper(uuid="")],
        [wrapper(torch_handle(size=2**40, offset=2**33), **small)],
    ]


SMALL = {
    "None": [None],
    "int": INTS,
    "bool": [False, True],
    "str": texts(),
    "bytes": blobs(),
    "int | None": [None, *INTS],
    "IPCCacheEngineKey": keys(),
    "KVCache": caches(),
    "EngineType": list(EngineType),
    "LayoutHints": hints(),
    "list[int]": int_lists(),
    "list[BlockAllocationRecord]": record_lists(),
    "tuple[bytes, bool]": [
        (b, f) for b in (b"", b"\x01", handle_64(), bytes(255), bytes(256)) for f in (True, False)
    ],
    "list[tuple[int, int]]": [
        [],
        [(0, 256)],
        [(0, 16), (32, 48)],
        [(-1, 2**64 - 1)],
        [(-(2**63), 2**63)],
        [(i, i + 1) for i in range(15)],
        [(i, i + 1) for i in range(16)],
    ],
    "list[CBMatchResult]": match_lists(),
}
LONG = {
    "str": ["x" * n for n in LONG_LENGTHS],
    "bytes": [bytes(n) for n in LONG_LENGTHS],
    "list[int]": [[7] * n for n in LONG_LENGTHS],
}
