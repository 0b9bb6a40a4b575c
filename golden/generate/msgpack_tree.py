# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Msgpack trees: documents as trees whose every node can be written in every legal form, and in
illegal ones. This is the hand that makes what a polite encoder never writes."""

import dataclasses
import enum
import pickle
import struct
from typing import Any, NamedTuple

import real


class Node(NamedTuple):
    kind: str  # nil bool int f32 f64 str bin arr map ext raw
    value: Any = None


NIL = Node("nil")
_SIGNED = {
    "int8": (0xD0, ">b", 8),
    "int16": (0xD1, ">h", 16),
    "int32": (0xD2, ">i", 32),
    "int64": (0xD3, ">q", 64),
}
_UNSIGNED = {
    "uint8": (0xCC, ">B", 8),
    "uint16": (0xCD, ">H", 16),
    "uint32": (0xCE, ">I", 32),
    "uint64": (0xCF, ">Q", 64),
}
_LENGTHS = {  # kind: (fix form, its base, its limit), the sized forms from narrow to wide
    "str": (("fixstr", 0xA0, 32), {"str8": (0xD9, 1), "str16": (0xDA, 2), "str32": (0xDB, 4)}),
    "bin": (None, {"bin8": (0xC4, 1), "bin16": (0xC5, 2), "bin32": (0xC6, 4)}),
    "arr": (("fixarray", 0x90, 16), {"array16": (0xDC, 2), "array32": (0xDD, 4)}),
    "map": (("fixmap", 0x80, 16), {"map16": (0xDE, 2), "map32": (0xDF, 4)}),
    "ext": (None, {"ext8": (0xC7, 1), "ext16": (0xC8, 2), "ext32": (0xC9, 4)}),
}
_FIXEXT = {1: 0xD4, 2: 0xD5, 4: 0xD6, 8: 0xD7, 16: 0xD8}


def node_of(value):
    """The tree that the real encoder writes for a value."""
    if value is None:
        return NIL
    if isinstance(value, bool):
        return Node("bool", value)
    if isinstance(value, int):
        return Node("int", value)
    if isinstance(value, enum.Enum):
        return node_of(value.value)
    if isinstance(value, str):
        return Node("str", value.encode())
    if isinstance(value, bytes):
        return Node("bin", value)
    if isinstance(value, (list, tuple)):
        return Node("arr", [node_of(item) for item in value])
    if isinstance(value, real.Wrapper):
        return Node("ext", (1, pickle.dumps(value)))
    if isinstance(value, dict):
        return Node("map", [(node_of(k), node_of(v)) for k, v in value.items()])
    return node_of({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})


def _length(node):
    return len(node.value[1]) if node.kind == "ext" else len(node.value)


def forms(node):
    """The legal forms of the node's own head, the shortest (the real encoder's) first."""
    if node.kind == "int":
        v = node.value
        fix = ["fixint"] if -32 <= v <= 127 else []
        unsigned = [n for n, (_, _, bits) in _UNSIGNED.items() if 0 <= v < 1 << bits]
        signed = [n for n, (_, _, bits) in _SIGNED.items() if -(1 << bits - 1) <= v < 1 << bits - 1]
        return fix + (unsigned + signed if v >= 0 else signed)
    if node.kind in _LENGTHS:
        n, (fix, sized) = _length(node), _LENGTHS[node.kind]
        short = [fix[0]] if fix and n < fix[2] else []
        if node.kind == "ext" and n in _FIXEXT:
            short = [f"fixext{n}"]
        return short + [name for name, (_, width) in sized.items() if n < 1 << 8 * width]
    return [node.kind]


def head(node, form, length=None):
    """The bytes of a head; a length other than the true one is a lie."""
    if node.kind == "int":
        if form == "fixint":
            return struct.pack(">b", node.value)
        code, fmt, _ = {**_SIGNED, **_UNSIGNED}[form]
        return bytes([code]) + struct.pack(fmt, node.value)
    n, (fix, sized) = _length(node) if length is None else length, _LENGTHS[node.kind]
    code_byte = struct.pack(">b", node.value[0]) if node.kind == "ext" else b""
    if fix and form == fix[0]:
        return bytes([fix[1] | n])
    if form.startswith("fixext"):
        return bytes([_FIXEXT[n]]) + code_byte
    code, width = sized[form]
    return bytes([code]) + n.to_bytes(width, "big") + code_byte


def write(node, choose=lambda path, node: None, path=()):
    """The document. choose(path, node) names a form, gives bytes to stand for the whole node's head
    (a lie), or None for the shortest form."""
    if node.kind == "nil":
        return b"\xc0"
    if node.kind == "bool":
        return b"\xc3" if node.value else b"\xc2"
    if node.kind == "f32":
        return b"\xca" + struct.pack(">f", node.value)
    if node.kind == "f64":
        return b"\xcb" + struct.pack(">d", node.value)
    if node.kind == "raw":
        return node.value
    choice = choose(path, node)
    out = choice if isinstance(choice, bytes) else head(node, choice or forms(node)[0])
    if node.kind in ("str", "bin"):
        return out + node.value
    if node.kind == "ext":
        return out + node.value[1]
    if node.kind == "arr":
        return out + b"".join(write(item, choose, (*path, i)) for i, item in enumerate(node.value))
    if node.kind == "map":
        for i, (key, value) in enumerate(node.value):
            out += write(key, choose, (*path, i, "key")) + write(value, choose, (*path, i, "value"))
    return out


def positions(node, path=(), elements=lambda n: range(n)):
    """Every node of the tree with its path, parents first."""
    yield path, node
    if node.kind == "arr":
        for i in elements(len(node.value)):
            yield from positions(node.value[i], (*path, i), elements)
    elif node.kind == "map":
        for i, (key, value) in enumerate(node.value):
            yield from positions(key, (*path, i, "key"), elements)
            yield from positions(value, (*path, i, "value"), elements)


def telling_positions(node):
    """As positions(), but of a long array only the first, the second and the last element: the ones
    between would tell the same once more."""
    return positions(node, elements=lambda n: range(n) if n <= 6 else (0, 1, n - 1))


def replaced(node, path, new):
    """The tree with another node at the path."""
    if not path:
        return new
    items = list(node.value)
    if node.kind == "arr":
        items[path[0]] = replaced(items[path[0]], path[1:], new)
        return Node("arr", items)
    key, value = items[path[0]]
    if path[1] == "key":
        items[path[0]] = (replaced(key, path[2:], new), value)
    else:
        items[path[0]] = (key, replaced(value, path[2:], new))
    return Node("map", items)
