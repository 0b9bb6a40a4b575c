# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Variants: other ways to write the same document, or one that differs where a reader may not care:
longer forms, map order, unknown and repeated fields. Each is a (label, tree or bytes)."""

import itertools

from msgpack_tree import NIL, Node, forms, node_of, positions, replaced, telling_positions, write

NESTED = Node("arr", [Node("map", [(node_of("a"), Node("arr", [NIL, Node("f64", 0.5)]))])])
UNKNOWN_VALUES = [
    ("nil", NIL),
    ("bool", Node("bool", True)),
    ("int", node_of(-1)),
    ("uint64", node_of(2**64 - 1)),
    ("float32", Node("f32", 1.5)),
    ("float64", Node("f64", float("nan"))),
    ("str", node_of("é")),
    ("str of bad UTF-8", Node("str", b"\xff")),
    ("bin", node_of(b"\x00\xff")),
    ("array", NESTED),
    ("map with int key", Node("map", [(node_of(1), NIL)])),
    ("map with array key", Node("map", [(Node("arr", []), NIL)])),
    ("ext 5", Node("ext", (5, b"\x01"))),
    ("timestamp", Node("ext", (-1, bytes(4)))),
    ("timestamp of 3 bytes", Node("ext", (-1, bytes(3)))),
    ("byte c1", Node("raw", b"\xc1")),
]


def longer_forms(tree):
    """One node at a time in each of its longer forms; then all of them in their longest."""
    for path, node in telling_positions(tree):
        for form in forms(node)[1:]:
            yield form, write(tree, lambda p, n: form if p == path else None)
    yield longest_forms(tree)


def longest_forms(tree):
    return "longest forms", write(tree, lambda p, n: forms(n)[-1])


def map_orders(tree):
    """Up to three fields: every order. More: reversed, each rotation, each swap of neighbours."""
    for path, node in positions(tree):
        if node.kind != "map" or len(node.value) < 2:
            continue
        fields = node.value
        if len(fields) <= 3:
            orders = itertools.permutations(fields)
        else:
            n = len(fields)
            orders = [fields[::-1]] + [fields[i:] + fields[:i] for i in range(1, n)]
            orders += [
                fields[:i] + [fields[i + 1], fields[i]] + fields[i + 2 :] for i in range(n - 1)
            ]
        for order in orders:
            if list(order) != fields:
                yield "map order", replaced(tree, path, Node("map", list(order)))


def unknown_fields(tree):
    for path, node in positions(tree):
        if node.kind != "map":
            continue
        n = len(node.value)
        for label, value in UNKNOWN_VALUES:
            for at in sorted({0, n // 2, n}):
                fields = node.value[:at] + [(node_of("zz"), value)] + node.value[at:]
                yield f"unknown field: {label}", replaced(tree, path, Node("map", fields))
        odd_keys = [
            ("", node_of("")),
            ("bad UTF-8", Node("str", b"\xff\xfe")),
            ("long", node_of("k" * 300)),
        ]
        odd_keys += [("case", Node("str", node.value[0][0].value.upper()))] if n else []
        odd_keys += [("NUL", Node("str", node.value[0][0].value + b"\0"))] if n else []
        for label, odd in odd_keys:
            fields = node.value + [(odd, NIL)]
            yield f"unknown field named: {label}", replaced(tree, path, Node("map", fields))


def deep_unknown_field(tree, depth):
    """An unknown field whose value is `depth` arrays in each other."""
    deep = Node("raw", b"\x91" * depth + b"\x01")
    return replaced(tree, (), Node("map", tree.value + [(node_of("zz"), deep)]))


def _another(node):
    """A different value of the same family."""
    other = {
        "int": node_of(99),
        "str": node_of("other"),
        "bin": node_of(b"other"),
        "arr": Node("arr", []),
    }
    return other.get(node.kind, node)


def repeated_fields(tree):
    for path, node in positions(tree):
        if node.kind != "map":
            continue
        for key, value in node.value:
            again = _another(value)
            yield (
                "field repeated, the last wins",
                replaced(tree, path, Node("map", [(key, again), *node.value])),
            )
            yield (
                "field repeated, the last wins",
                replaced(tree, path, Node("map", [*node.value, (key, again)])),
            )
            yield (
                "field repeated, first nil",
                replaced(tree, path, Node("map", [(key, NIL), *node.value])),
            )
            yield (
                "field repeated, last nil",
                replaced(tree, path, Node("map", [*node.value, (key, NIL)])),
            )


def all_variants(tree):
    yield "shortest", tree
    for family in (longer_forms, map_orders, unknown_fields, repeated_fields):
        yield from family(tree)
