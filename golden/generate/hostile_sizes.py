# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Hostile sizes: lengths that lie, and short pickles that would grow or nest without end."""

import pickle as p

from opcodes import NEW_WRAPPER, STOP, program, text, u32, u64, wrapper


def lies():
    past = "a length past the end"
    for name in ("SHORT_BINUNICODE", "SHORT_BINBYTES", "SHORT_BINSTRING", "LONG1"):
        yield f"{name} of 255", program(getattr(p, name), b"\xffx"), past
    for name in ("BINUNICODE", "BINBYTES", "BINSTRING", "LONG4"):
        for size in (4, 2**31 - 1, 2**31, 2**32 - 1):
            yield f"{name} of {size}", program(getattr(p, name), u32(size), b"x"), past
    for name in ("BINUNICODE8", "BINBYTES8", "BYTEARRAY8", "FRAME"):
        for size in (4, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 11):
            yield f"{name} of {size}", program(getattr(p, name), u64(size), b"x"), past
    for name in ("BINUNICODE8", "BINBYTES8"):
        yield f"{name} of 2^63 as a handle", wrapper(handle=getattr(p, name) + u64(2**63)), past
    yield "LONG4 of -1", program(p.LONG4, u32(2**32 - 1)), "a negative size"
    yield "LONG4 of -2^31", program(p.LONG4, u32(2**31)), "a negative size"
    yield "LONG1 of 0 as shape", wrapper(shape=p.LONG1 + b"\0"), "either: not a tuple"
    yield (
        "LONG1 of 255 bytes",
        wrapper(shape=p.LONG1 + b"\xff" + b"\x01" * 255 + p.TUPLE1),
        "either: an int beyond 64 bits",
    )
    yield (
        "LONG as text",
        wrapper(shape=p.LONG + b"9" * 4000 + b"L\n" + p.TUPLE1),
        "either: an int beyond 64 bits",
    )
    yield "INT as text", wrapper(shape=p.INT + b"12x\n" + p.TUPLE1), "not a number"
    yield "FLOAT as text", wrapper(shape=p.FLOAT + b"1.5\n" + p.TUPLE1), "either: a float"
    yield "BINFLOAT", wrapper(shape=p.BINFLOAT + bytes(8) + p.TUPLE1), "either: a float"
    yield "STRING", wrapper(handle=p.STRING + b"'x'\n"), "either: opcode STRING"
    yield "UNICODE", wrapper(handle=p.UNICODE + b"\\u0041\n"), "either: a str as a handle"
    yield (
        "SHORT_BINSTRING",
        wrapper(handle=p.SHORT_BINSTRING + b"\x01x"),
        "either: opcode SHORT_BINSTRING",
    )
    yield (
        "bad UTF-8 in a str",
        program(
            NEW_WRAPPER,
            p.EMPTY_DICT,
            p.SHORT_BINUNICODE,
            b"\x02\xff\xfe",
            p.NONE,
            p.SETITEM,
            p.BUILD,
        ),
        "not UTF-8",
    )
    yield "bad UTF-8 in a global", program(p.GLOBAL, b"\xff\n\xfe\n"), "not UTF-8"
    yield (
        "frame ends inside an opcode",
        program(p.FRAME, u64(2), text("abcdef")),
        "a frame that cuts an opcode",
    )
    yield (
        "frame in a frame",
        program(p.FRAME, u64(12), p.FRAME, u64(1), p.NONE),
        "a frame in a frame",
    )


def bombs():
    large = 300
    yield (
        "billion laughs",
        program(
            p.EMPTY_TUPLE,
            b"".join(p.MEMOIZE + (p.BINGET + bytes([i])) * 2 + p.TUPLE3 for i in range(40)),
        ),
        "doubles forty times",
    )
    doubling = b"".join(p.MEMOIZE + p.DUP + p.TUPLE2 for _ in range(200))
    yield (
        "billion laughs as shape",
        wrapper(shape=p.EMPTY_TUPLE + doubling),
        "doubles two hundred times",
    )
    yield "many DUPs", program(p.NONE, p.DUP * 20000, p.POP * 20000), "a stack of 20000"
    yield "many MARKs", program(p.MARK * 20000), "20000 open MARKs"
    yield "many memos", program((p.NONE + p.MEMOIZE) * 5000, p.POP * 4999), "a memo of 5000"
    yield "many frames", program((p.FRAME + u64(0)) * 2000), "2000 empty frames, no value"
    yield "many PROTOs", (p.PROTO + b"\x04") * 2000 + STOP, "2000 PROTOs, no value"
    yield (
        "shape of rank 20000",
        wrapper(shape=p.MARK + (p.BININT1 + b"\x01") * 20000 + p.TUPLE),
        "either: a tensor of rank 20000",
    )
    yield (
        "deep tuples",
        wrapper(shape=p.EMPTY_TUPLE + p.TUPLE1 * 20000),
        "20000 tuples in each other",
    )
    yield (
        "deep lists",
        program(p.EMPTY_LIST * large * 60, p.APPEND * (large * 60 - 1)),
        "18000 lists in each other",
    )
    yield (
        "deep dicts",
        program((p.EMPTY_DICT + p.NONE) * 6000, p.NONE, p.SETITEM * 6000),
        "6000 dicts in each other",
    )
    yield (
        "list in itself",
        program(p.EMPTY_LIST, p.MEMOIZE, p.BINGET, b"\0", p.APPEND),
        "a ring",
    )
    yield (
        "dict in itself",
        program(p.EMPTY_DICT, p.MEMOIZE, text("a"), p.BINGET, b"\0", p.SETITEM),
        "a ring",
    )
    yield (
        "many attributes",
        wrapper(extra=b"".join(text(f"a{i}") + p.NONE for i in range(2000))),
        "either: attributes that are none of ours",
    )
    yield (
        "70000 bytes of handle",
        wrapper(handle=p.BINBYTES + u32(70000) + bytes(70000)),
        "either: larger than any wrapper",
    )


def all_sizes():
    yield from lies()
    yield from bombs()
