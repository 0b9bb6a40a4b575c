# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""pickles.jsonl: what may stand in an Ext of a KVCache, and what must not. Good ones are written by
Python's own picklers and read back by the real class; hostile ones are assembled from opcodes
(hostile.py) and never loaded."""

import io
import pickle

import hostile
import odd_pickles
import real
from typed_json import typed
from wrappers import handle_64, handle_66, raw_wrapper, torch_handle, wrapper

DTYPES = [
    "float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool",
    "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
    "uint16", "uint32", "uint64", "float4_e2m1fn_x2",
]  # fmt: skip
SMALL = {"shape": (2, 8), "stride": (8, 1)}


def shared_parts():
    """One object in several places: pickle writes it once, and memo gets after that."""
    memory, shape = handle_66(), (4, 4)
    made = wrapper((0, memory, 64, 0, memory, 0, memory, True))
    made.shape = made.stride = shape
    return made


def wrappers():
    yield "66 bytes, version 1", wrapper()
    yield "66 bytes, version 2", wrapper(torch_handle(memory=handle_66(2)), **SMALL)
    yield "66 bytes, version 3", wrapper(torch_handle(memory=handle_66(3)), **SMALL)
    yield "64 bytes", wrapper(torch_handle(memory=handle_64()), **SMALL)
    yield "type e", wrapper(torch_handle(memory=handle_66(1, b"e")), **SMALL)
    yield "type e, long", wrapper(torch_handle(memory=b"\x01e" + bytes(300)), **SMALL)
    yield "version 4", wrapper(torch_handle(memory=handle_66(4)), **SMALL)
    yield (
        "host device",
        wrapper(
            torch_handle(memory=b"\x01cKVHOSTM1" + b"/kvc-golden".ljust(56, b"\0")),
            uuid="HOST-0",
            **SMALL,
        ),
    )
    yield "no event sync", wrapper(torch_handle(event_sync=False), **SMALL)
    yield (
        "offsets",
        wrapper(
            torch_handle(device=7, size=2**33, offset=2**40 + 512), storage_offset=2**31, **SMALL
        ),
    )
    yield (
        "int borders",
        wrapper(
            torch_handle(device=255, size=256, offset=65535),
            storage_offset=65536,
            shape=(255, 256, 65535),
            stride=(2**31 - 1, 2**31, 2**32),
        ),
    )
    yield (
        "negative and huge ints",
        wrapper(
            torch_handle(device=-1, size=2**63 - 1, offset=-(2**31)),
            storage_offset=-(2**31) - 1,
            shape=(-1, 2**63),
            stride=(2**64 - 1, -(2**63)),
        ),
    )
    yield "empty bytes", wrapper((0, b"", 0, 0, b"", 0, b"", False), **SMALL)
    yield (
        "bytes of 255 and 256",
        wrapper((0, bytes(255), 0, 0, bytes(256), 0, b"\xff" * 64, False), **SMALL),
    )
    yield "shared parts", shared_parts()
    yield "uuid of 256 characters", wrapper(uuid="GPU-" + "x" * 252, **SMALL)
    yield "uuid with é and 🦊", wrapper(uuid="GPU-é🦊", **SMALL)
    yield "empty uuid", wrapper(uuid="", **SMALL)
    for rank in range(9):
        yield f"rank {rank}", wrapper(shape=range(1, rank + 1))
    for dtype in DTYPES:
        yield f"dtype {dtype}", wrapper(dtype=dtype, **SMALL)
    yield "raw", raw_wrapper()
    yield "raw, nbytes 2^40", raw_wrapper(nbytes=2**40, **SMALL)
    yield "raw, offset", raw_wrapper(storage_offset=4096, **SMALL)
    yield (
        "raw, host device",
        raw_wrapper(b"KVHOSTM1" + b"/kvc-golden".ljust(56, b"\0"), uuid="HOST-0", **SMALL),
    )
    yield "raw, uint8", raw_wrapper(dtype="uint8", **SMALL)


def by_python(obj, protocol):
    """The pickler written in Python: it writes the same values with other opcodes at times."""
    buffer = io.BytesIO()
    pickle._Pickler(buffer, protocol).dump(obj)
    return buffer.getvalue()


def fast(obj, protocol):
    """Without a memo: every repetition in full, and no memoise opcodes."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol)
    pickler.fast = True
    pickler.dump(obj)
    return buffer.getvalue()


PICKLERS = [("", pickle.dumps), (", python", by_python), (", no memo", fast)]


def good_rows():
    seen = set()
    for name, obj in wrappers():
        few = name.startswith("dtype") or name.startswith(
            "rank"
        )  # the protocols do not differ in these
        for protocol in (2, 4) if few else (2, 3, 4, 5):
            for how, dump in [("", pickle.dumps)] if few else PICKLERS:
                data = dump(obj, protocol)
                if data in seen:
                    continue
                seen.add(data)
                loaded = real.Wrapper.Deserialize(data)
                assert type(loaded) is type(obj) and vars(loaded) == vars(obj), name
                yield {
                    "name": f"{name}, protocol {protocol}{how}",
                    "hex": data.hex(),
                    "value": typed(loaded),
                }


def make(out):
    good, bad = list(good_rows()), [*odd_pickles.rows(), *hostile.rows()]
    header = {
        "count": len(good) + len(bad),
        "how": "value: written by pickle.dumps and pickle._Pickler, read by the real class; "
        "refuse: assembled, never loaded; "
        "either: the real class reads it, a careful reader may refuse it",
    }
    out.lines("pickles.jsonl", header, good + bad)
    refused = sum("refuse" in row for row in bad)
    return len(good), len(bad) - refused, refused
