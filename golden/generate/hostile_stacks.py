# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Hostile stacks: pickles that take what is not on the stack or in the memo, end too early, or are
no pickles at all."""

import pickle as p

from opcodes import (
    MODULE,
    NEW_WRAPPER,
    STOP,
    WRAPPER,
    program,
    stack_global,
    text,
    wrapper,
)
from wrappers import raw_wrapper
from wrappers import wrapper as real_wrapper


def stacks():
    underflow = "the stack is empty"
    for name in (
        "POP",
        "DUP",
        "TUPLE1",
        "TUPLE2",
        "TUPLE3",
        "SETITEM",
        "APPEND",
        "BUILD",
        "REDUCE",
        "NEWOBJ",
        "STACK_GLOBAL",
        "MEMOIZE",
        "BINPERSID",
        "STOP",
    ):
        yield f"{name} on an empty stack", program(getattr(p, name)), underflow
    for name in (
        "TUPLE",
        "LIST",
        "DICT",
        "SETITEMS",
        "APPENDS",
        "POP_MARK",
        "ADDITEMS",
        "FROZENSET",
        "OBJ",
    ):
        yield f"{name} without MARK", program(p.NONE, p.NONE, getattr(p, name)), "no MARK"
    for name in (
        "TUPLE1",
        "TUPLE2",
        "REDUCE",
        "BUILD",
        "SETITEM",
        "STACK_GLOBAL",
        "NEWOBJ",
        "APPEND",
    ):
        yield (
            f"{name} across a MARK",
            program(text("a"), text("b"), p.MARK, getattr(p, name)),
            "a MARK among the operands",
        )
    yield "STOP on a MARK", program(p.MARK), "a MARK as the value"
    yield (
        "STOP inside a MARK",
        program(wrapper()[2:-1], p.MARK),
        "a MARK left at STOP",
    )
    yield (
        "SETITEMS of three",
        program(
            NEW_WRAPPER,
            p.EMPTY_DICT,
            p.MARK,
            text("handle"),
            p.NONE,
            text("dtype"),
            p.SETITEMS,
            p.BUILD,
        ),
        "a key without a value",
    )
    yield (
        "SETITEMS on a tuple",
        program(p.EMPTY_TUPLE, p.MARK, text("a"), p.NONE, p.SETITEMS),
        "not a dict",
    )
    yield (
        "STACK_GLOBAL of ints",
        program(p.BININT1, b"\1", p.BININT1, b"\2", p.STACK_GLOBAL),
        "names that are no str",
    )
    yield (
        "STACK_GLOBAL from a memo",
        program(
            text("os"),
            p.MEMOIZE,
            p.POP,
            text("system"),
            p.MEMOIZE,
            p.POP,
            p.BINGET,
            b"\0",
            p.BINGET,
            b"\1",
            p.STACK_GLOBAL,
            text("echo hostile"),
            p.TUPLE1,
            p.REDUCE,
        ),
        "a hidden global",
    )
    yield (
        "module name with newline",
        program(stack_global(f"{MODULE}\nCudaIPCWrapper", "x")),
        "a global that is not on the list",
    )
    yield "only None", p.NONE + STOP, "not a wrapper"
    yield "only the class", program(WRAPPER), "not a wrapper"
    yield "a dict", program(p.EMPTY_DICT), "not a wrapper"
    yield (
        "a list of wrappers",
        program(p.EMPTY_LIST, wrapper()[2:-1], p.APPEND),
        "not a wrapper",
    )
    yield (
        "DUP of a wrapper",
        program(wrapper()[2:-1], p.DUP),
        "either: two values on the stack at STOP",
    )
    yield (
        "global across lines",
        program(p.GLOBAL, f"{MODULE}\nCudaIPC\nWrapper".encode()),
        "a global that is not on the list",
    )


def memos():
    yield "GET of nothing", program(p.GET, b"7\n"), "an empty memo"
    yield "BINGET of nothing", program(p.BINGET, b"\x07"), "an empty memo"
    yield "LONG_BINGET of 2^32-1", program(p.LONG_BINGET, b"\xff" * 4), "an empty memo"
    yield (
        "LONG_BINPUT at 2^32-1",
        program(p.NONE, p.LONG_BINPUT, b"\xff" * 4),
        "would make a memo of billions",
    )
    yield (
        "LONG_BINPUT at 2^28",
        program(p.NONE, p.LONG_BINPUT, b"\0\0\0\x10"),
        "would make a memo of millions",
    )
    yield (
        "PUT at a huge number",
        program(p.NONE, p.PUT, b"99999999999999999999\n"),
        "no memo that large",
    )
    yield "PUT at -1", program(p.NONE, p.PUT, b"-1\n"), "a negative place"
    yield "PUT at x", program(p.NONE, p.PUT, b"x\n"), "not a number"
    yield "GET of nothing inside a field", wrapper(handle=p.BINGET + b"\x09"), "an empty memo"


def whole_bytes():
    """Bytes that are no pickle, and good pickles cut short."""
    for byte in range(256):
        if bytes([byte]) != b".":
            yield f"only byte {byte:02x}", bytes([byte]), "ends before STOP"
    yield "nothing", b"", "ends before STOP"
    yield "only STOP", STOP, "the stack is empty"
    known = {getattr(p, name) for name in p.__all__ if isinstance(getattr(p, name), bytes)} | {
        p.PROTO,
        p.STOP,
    }
    for byte in range(256):
        if bytes([byte]) not in known:
            yield (
                f"unknown opcode {byte:02x}",
                program(p.NONE, bytes([byte])),
                "no such opcode",
            )
    for protocol in (6, 7, 127, 255):
        yield (
            f"protocol {protocol}",
            p.PROTO + bytes([protocol]) + wrapper()[2:],
            "no such protocol",
        )
    for name, obj, protocol in (
        ("", real_wrapper(shape=(2, 8)), 4),
        ("raw ", raw_wrapper(shape=(2, 8)), 4),
        ("", real_wrapper(shape=(2, 8)), 2),
    ):
        good = p.dumps(obj, protocol)
        for offset in range(1, len(good), 2 if protocol == 2 else 7):
            yield f"{name}protocol {protocol} cut at {offset}", good[:offset], "ends before STOP"


def all_stacks():
    yield from stacks()
    yield from memos()
    yield from whole_bytes()
