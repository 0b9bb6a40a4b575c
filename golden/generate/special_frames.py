# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Special frames: what only one type can get wrong (an enum's names, a salt's characters, an Ext's
code and class). Each is a (label, tree or bytes)."""

import pickle

import values
from msgpack_tree import Node, node_of
from variants import deep_unknown_field
from wrappers import wrapper

# Unknown values this deep are skipped; this deep they are refused. Between lies the limit of the
# interpreter's recursion, which is no rule of the protocol, so nothing here is near it.
DEEP, TOO_DEEP = 200, 3000


def one_byte_frames(name):
    """Every frame of one byte: all fixed forms, every head cut after its first byte."""
    for byte in range(256):
        yield "one byte", bytes([byte])


def salts():
    for char in "@/\\\x00":
        for text in (
            char,
            char + "s",
            "s" + char,
            "s" + char + "s",
            "é" * 127 + char,
            "x" * 130 + char,
        ):
            yield "forbidden character", text
    for char in ("x", "é", "漢", "🦊"):
        for n in (126, 127, 128, 129, 130, 255, 256, 600):
            yield f"{n} code points", char * n
    yield "128 code points", "e\u0301" * 64
    yield "129 code points", "e\u0301" * 64 + "e"
    for text in ("\uff20", "\u2215", "\uff0f", "%40", "..", " ", "\n", "\x1f", "\u0000"[:0]):
        yield "allowed character", text


def key_frames():
    tree = node_of(values.key())
    for label, salt in salts():
        field = (node_of("cache_salt"), Node("str", salt.encode()))
        yield label, Node("map", [*tree.value[:-1], field])
    for label, salt in list(salts())[:24:6]:  # the first salt is bad, the last one good
        yield (
            f"{label}, repeated",
            Node("map", [(node_of("cache_salt"), node_of(salt)), *tree.value]),
        )
    for count in (7, 8, 9, 300):  # eight of its own: 15, 16 and 17 fields lie around fixmap's end
        strangers = [(node_of(f"z{i}"), node_of(i)) for i in range(count)]
        yield f"{count} unknown fields", Node("map", [*tree.value, *strangers])
        yield f"{count} unknown fields first", Node("map", [*strangers, *tree.value])
    yield f"unknown field {DEEP} deep", deep_unknown_field(tree, DEEP)
    yield f"unknown field {TOO_DEEP} deep", deep_unknown_field(tree, TOO_DEEP)


def hint_frames():
    for text in ("", "NHD", "HND", "nhd", "NHD ", "NH", "NHDX", "NHD\0", "DHN", "ＮＨＤ"):
        yield "kv_layout", node_of({"kv_layout": text})
    yield f"unknown field {DEEP} deep", deep_unknown_field(node_of({}), DEEP)
    yield f"unknown field {TOO_DEEP} deep", deep_unknown_field(node_of({}), TOO_DEEP)


def engine_frames():
    for text in ("vllm", "sglang", "trtllm", "mock"):
        for other in (
            text.upper(),
            text.title(),
            text + " ",
            " " + text,
            text[:-1],
            text + "x",
            text + "\0",
            f"EngineType.{text.upper()}",
        ):
            yield "no such engine", node_of(other)
    for other in ("", "tensorrt", "tgi", "x" * 300):
        yield "no such engine", node_of(other)


def cache_frames():
    good = pickle.dumps(wrapper(shape=(2, 8)))
    for code in (0, 2, 3, 127, -1, -2, -128):
        yield f"ext code {code}", Node("arr", [Node("ext", (code, good))])
    strangers = [
        None,
        True,
        7,
        2**70,
        1.5,
        "str",
        b"bytes",
        (),
        [],
        {},
        [wrapper(shape=(1,))],
        values.key(),
        type(wrapper()),
    ]
    for protocol in (0, 2, 4, 5):
        for stranger in strangers:
            yield (
                f"pickle of a {type(stranger).__name__}",
                Node("arr", [Node("ext", (1, pickle.dumps(stranger, protocol)))]),
            )
    for offset in range(0, len(good), 7):
        yield "pickle truncated", Node("arr", [Node("ext", (1, good[:offset]))])
    yield "pickle with a tail", Node("arr", [Node("ext", (1, good + b"tail"))])
    for body in (b"", b".", b"\x80", b"\xff", b"\x80\x06."):
        yield "no pickle", Node("arr", [Node("ext", (1, body))])
    for count in (15, 16, 17):
        yield "many", Node("arr", [Node("ext", (1, good))] * count)
    yield "ext without array", Node("ext", (1, good))
    yield "pickle in a bin", Node("arr", [node_of(good)])
    yield "array in array", Node("arr", [Node("arr", [Node("ext", (1, good))])])


def int_frames():
    for value in values.INTS:
        yield "float64", Node("f64", float(value))
    for value in (0.0, -0.0, 1.0, 0.5, float("nan"), float("inf"), -float("inf")):
        yield "float32", Node("f32", value)


def ext_heads():
    """Every Ext head, fixed and sized, of the codes that mean something."""
    for length in (0, 1, 2, 3, 4, 8, 12, 16, 17):
        for code in (-1, 0, 1, 5):
            yield "ext", Node("ext", (code, bytes(length)))


SPECIAL = {
    "int": int_frames,
    "int | None": int_frames,
    "IPCCacheEngineKey": key_frames,
    "LayoutHints": hint_frames,
    "EngineType": engine_frames,
    "KVCache": cache_frames,
}


def special_frames(name):
    yield from one_byte_frames(name)
    yield from ext_heads()
    for label, tree in SPECIAL.get(name, lambda: ())():
        yield label, tree
