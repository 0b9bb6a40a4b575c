# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""type_frames.jsonl: what the real decoder makes of the frame that names the type. A frame that it
refuses kills the server of 0.4.5; a server that conforms answers nothing and lives."""

import real
import values
from judge import _AT
from msgpack_tree import Node, forms, node_of, write
from mutations import FAMILIES, trailing, truncations
from special_frames import ext_heads, one_byte_frames


def candidates():
    numbers = list(range(-2, 48)) + values.INTS
    for number in numbers:
        tree = node_of(number)
        for form in forms(tree):
            yield form, write(tree, lambda p, n: form)
    yield from one_byte_frames("type")
    for member in real.RequestType:
        tree = node_of(member.value)
        for text in (
            member.name,
            member.name.lower(),
            f"RequestType.{member.name}",
            str(member.value),
        ):
            yield "name", write(node_of(text))
        yield "float", write(Node("f64", float(member.value)))
        yield "float", write(Node("f32", float(member.value)))
        yield "bin", write(node_of(bytes([member.value])))
        yield "array of it", write(Node("arr", [tree]))
        yield "map of it", write(Node("map", [(tree, tree)]))
        yield "ext of it", write(Node("ext", (member.value, b"")))
        yield from trailing(write(tree))
        for form in forms(tree):
            frame = write(tree, lambda p, n: form)
            yield from truncations(frame)
            yield f"{form}, trailing 00", frame + b"\0"
    for label, tree in FAMILIES:
        yield label, write(tree)
    for label, tree in ext_heads():
        yield label, write(tree)


def rows():
    seen = set()
    for label, frame in candidates():
        if frame in seen:
            continue
        seen.add(frame)
        try:
            member = real.mq.msgspec_decode(frame, cls=real.RequestType)
        except Exception as error:
            message = str(error)
            place = _AT.search(message)
            yield {
                "hex": frame.hex(),
                "path": place[1] if place else "$",
                "error": message,
                "kind": type(error).__name__,
                "mutation": label,
            }
        else:
            yield {
                "hex": frame.hex(),
                "number": member.value,
                "name": member.name,
                "encoding": label,
            }


def make(out):
    made = list(rows())
    header = {
        "count": len(made),
        "how": "msgspec_decode(frame, cls=RequestType): number and name, or the error",
    }
    out.lines("type_frames.jsonl", header, made)
    return len(made)
