# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Mutations: documents that are wrong in one place. Most are refused; the judge says which are not.
Each is a (label, tree or bytes)."""

from msgpack_tree import NIL, Node, node_of, replaced, telling_positions, write

FAMILIES = [
    ("nil", NIL),
    ("false", Node("bool", False)),
    ("true", Node("bool", True)),
    ("int", node_of(1)),
    ("negative int", node_of(-1)),
    ("float32", Node("f32", 1.0)),
    ("float64", Node("f64", 2.0)),
    ("str", node_of("1")),
    ("bin", node_of(b"1")),
    ("array", Node("arr", [])),
    ("array of one", Node("arr", [node_of(1)])),
    ("map", Node("map", [])),
    ("map of one", Node("map", [(node_of("a"), node_of(1))])),
    ("ext 1", Node("ext", (1, b"N."))),  # the pickle of None
    ("ext 5", Node("ext", (5, b"\x01\x02"))),
    ("timestamp", Node("ext", (-1, bytes(4)))),
    ("timestamp 64", Node("ext", (-1, bytes(8)))),
    ("byte c1", Node("raw", b"\xc1")),
    ("nothing", Node("raw", b"")),
]
BAD_UTF8 = [
    ("lone continuation", "80"), ("ff", "ff"), ("overlong NUL", "c080"),
    ("overlong slash", "e080af"), ("surrogate d800", "eda080"), ("surrogate pair", "eda080edb080"),
    ("above U+10FFFF", "f4908080"), ("cut 2-byte", "c3"), ("cut 3-byte", "e6bc"),
    ("cut 4-byte", "f09fa6"), ("5-byte lead", "f888808080"), ("bad after ASCII", "6162ff"),
    ("bad in a long str", "78" * 40 + "c3" + "78"),
]  # fmt: skip


def wrong_families(tree):
    for path, node in telling_positions(tree):
        for label, other in FAMILIES:
            if other != node:
                yield label, replaced(tree, path, other)


def wrong_arity(tree):
    for path, node in telling_positions(tree):
        if node.kind == "arr":
            if node.value:
                yield "an element less", replaced(tree, path, Node("arr", node.value[:-1]))
                yield (
                    "an element twice",
                    replaced(tree, path, Node("arr", [*node.value, node.value[-1]])),
                )
                keyed = [(node_of(str(i)), item) for i, item in enumerate(node.value)]
                yield "map for array", replaced(tree, path, Node("map", keyed))
            yield "nil as one more element", replaced(tree, path, Node("arr", [*node.value, NIL]))
        if node.kind == "map":
            yield "array for map", replaced(tree, path, Node("arr", [v for _, v in node.value]))
            flat = [item for pair in node.value for item in pair]
            yield "array of keys and values", replaced(tree, path, Node("arr", flat))


def missing_fields(tree):
    for path, node in telling_positions(tree):
        if node.kind != "map":
            continue
        for i, (key, value) in enumerate(node.value):
            rest = node.value[:i] + node.value[i + 1 :]
            yield "field missing", replaced(tree, path, Node("map", rest))
            for label, odd in (
                ("upper case", key.value.upper()),
                ("a space more", key.value + b" "),
                ("cut", key.value[:-1]),
            ):
                fields = node.value[:i] + [(Node("str", odd), value)] + node.value[i + 1 :]
                yield f"field name {label}", replaced(tree, path, Node("map", fields))


def lying_lengths(tree):
    """Heads that promise one more, one less, or billions."""
    for path, node in telling_positions(tree):
        code = {"str": 0xDB, "bin": 0xC6, "arr": 0xDD, "map": 0xDF, "ext": 0xC9}.get(node.kind)
        if code is None:
            continue
        n = len(node.value[1]) if node.kind == "ext" else len(node.value)
        tail = bytes([node.value[0] % 256]) if node.kind == "ext" else b""
        lies = [("one more", n + 1), ("2^31", 2**31), ("2^32-1", 2**32 - 1)] + (
            [("one less", n - 1)] if n else []
        )
        for label, lie in lies:
            head = bytes([code]) + lie.to_bytes(4, "big") + tail
            yield f"length lies: {label}", write(tree, lambda p, _: head if p == path else None)


def bad_utf8(tree):
    for path, node in telling_positions(tree):
        if node.kind == "str":
            for label, text in BAD_UTF8:
                yield f"bad UTF-8: {label}", replaced(tree, path, Node("str", bytes.fromhex(text)))


def truncations(frame, step=1):
    for offset in range(0, len(frame), step):
        yield "truncated", frame[:offset]


def trailing(frame):
    for label, more in (
        ("00", b"\0"),
        ("nil", b"\xc0"),
        ("c1", b"\xc1"),
        ("itself", frame),
        ("cut str", b"\xd9"),
    ):
        yield f"trailing {label}", frame + more


def all_mutations(tree):
    for family in (wrong_families, wrong_arity, missing_fields, lying_lengths, bad_utf8):
        yield from family(tree)
    frame = write(tree)
    yield from truncations(frame, 1 if len(frame) <= 300 else 29)
    yield from trailing(frame)
