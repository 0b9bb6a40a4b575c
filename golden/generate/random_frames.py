# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Random frames: several liberties at once, which the orderly families do not try: every node in a
form of its own, fields shuffled, unknown and repeated ones mixed in, and at times one mutation."""

import random

import values
from msgpack_tree import Node, forms, node_of, positions, replaced, write
from mutations import FAMILIES
from real import EngineType
from variants import UNKNOWN_VALUES


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def int(self):
        if self.random.random() < 0.5:
            return self.random.choice(values.INTS)
        return self.random.randrange(
            -(2 ** self.random.randrange(1, 64)), 2 ** self.random.randrange(1, 65)
        )

    def str(self):
        return "".join(
            self.random.choice("abc-_.é漢🦊\0 ") for _ in range(self.random.randrange(6))
        )

    def bytes(self):
        return self.random.randbytes(self.random.randrange(8))

    def list(self, item, max_length=5):
        return [item() for _ in range(self.random.randrange(max_length + 1))]

    def key(self):
        worker = self.random.choice([None, self.int()])
        salt = self.str().replace("\0", "")
        return values.key(
            self.str(),
            self.int(),
            worker,
            self.list(self.int),
            self.int(),
            self.int(),
            self.str(),
            salt,
        )

    def record(self):
        return values.record(self.str(), self.list(self.int), self.list(self.int))

    def match(self):
        return values.match(self.int(), self.int(), self.int(), self.int(), self.bytes())

    def hints(self):
        names = list(values.real.LayoutHints.__annotations__)
        chosen = self.random.sample(names, self.random.randrange(len(names) + 1))
        return {
            n: self.random.choice(["NHD", "HND"]) if n == "kv_layout" else self.int()
            for n in chosen
        }

    def value(self, name):
        return {
            "int | None": lambda: self.random.choice([None, self.int()]),
            "int": self.int,
            "str": self.str,
            "bytes": self.bytes,
            "EngineType": lambda: self.random.choice(list(EngineType)),
            "IPCCacheEngineKey": self.key,
            "LayoutHints": self.hints,
            "list[int]": lambda: self.list(self.int, 8),
            "list[BlockAllocationRecord]": lambda: self.list(self.record, 3),
            "tuple[bytes, bool]": lambda: (self.bytes(), self.random.random() < 0.5),
            "list[tuple[int, int]]": lambda: self.list(lambda: (self.int(), self.int()), 4),
            "list[CBMatchResult]": lambda: self.list(self.match, 3),
        }[name]()

    def loosen(self, tree):
        """Shuffled fields, with strangers and repetitions among them."""
        for path, node in list(positions(tree)):
            if node.kind != "map":
                continue
            fields = list(node.value)
            if fields and self.random.random() < 0.4:
                fields.append(self.random.choice(fields))
            if self.random.random() < 0.4:
                fields.append((node_of(self.str() + "?"), self.random.choice(UNKNOWN_VALUES)[1]))
            self.random.shuffle(fields)
            tree = replaced(tree, path, Node("map", fields))
        return tree

    def frame(self, name):
        tree, label = self.loosen(node_of(self.value(name))), "random"
        if self.random.random() < 0.3:
            path, _ = self.random.choice(list(positions(tree)))
            family, other = self.random.choice(FAMILIES)
            tree, label = replaced(tree, path, other), f"random, {family}"
        frame = write(tree, lambda p, n: self.random.choice(forms(n)))
        if self.random.random() < 0.05:
            frame, label = frame[: self.random.randrange(len(frame) + 1)], "random, truncated"
        return label, frame


COUNTS = {
    "int": 200, "str": 200, "bytes": 200, "int | None": 200, "EngineType": 50, "LayoutHints": 900,
    "IPCCacheEngineKey": 1500, "list[int]": 1000, "list[BlockAllocationRecord]": 1000,
    "tuple[bytes, bool]": 500, "list[tuple[int, int]]": 1000, "list[CBMatchResult]": 1000,
}  # fmt: skip


def random_frames(name):
    maker = Maker(f"kvconform {name}")
    for _ in range(COUNTS.get(name, 0)):
        yield maker.frame(name)
