# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Opcodes: single pickle instructions as bytes, from pickle's own table of them."""

import pickle as p
import struct

MODULE = "lmcache.v1.multiprocess.custom_types"
PROTO4, STOP = p.PROTO + b"\x04", p.STOP


def program(*instructions):
    return PROTO4 + b"".join(instructions) + STOP


def text(value):
    data = value.encode()
    return p.SHORT_BINUNICODE + bytes([len(data)]) + data


def blob(data):
    return p.SHORT_BINBYTES + bytes([len(data)]) + data


def global_(module, name):
    return p.GLOBAL + f"{module}\n{name}\n".encode()


def stack_global(module, name):
    return text(module) + text(name) + p.STACK_GLOBAL


def call(function, *arguments):
    """function(*arguments), by REDUCE."""
    return function + p.MARK + b"".join(arguments) + p.TUPLE + p.REDUCE


def u32(n):
    return struct.pack("<I", n)


def u64(n):
    return struct.pack("<Q", n)


WRAPPER = global_(MODULE, "CudaIPCWrapper")
NEW_WRAPPER = WRAPPER + p.EMPTY_TUPLE + p.NEWOBJ


def wrapper(handle=p.NONE, dtype=global_("torch", "uint8"), shape=p.EMPTY_TUPLE, extra=b""):
    """A whole wrapper, with parts of it given as instructions."""
    fields = (
        text("handle")
        + handle
        + text("dtype")
        + dtype
        + text("shape")
        + shape
        + text("stride")
        + p.EMPTY_TUPLE
    )
    fields += text("storage_offset") + p.BININT1 + b"\0" + text("device_uuid") + text("GPU") + extra
    return PROTO4 + NEW_WRAPPER + p.EMPTY_DICT + p.MARK + fields + p.SETITEMS + p.BUILD + STOP
