# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""handlers.json: what the real server says when a handler is added to it: right ones, wrong
ones, and ones with the wrong pool."""

import inspect
import itertools

import real
import zmq
from real import mq, protocol

HandlerType = protocol.HandlerType
_numbers = itertools.count()  # an inproc name is free again only some time after close()
UNUSUAL = "another handler type than the definition's"
POOLS = {"normal": "add_normal_thread_pool", "affinity": "add_affinity_thread_pool"}


def function(parameters, result):
    """A function with these types in its signature."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    made = [
        inspect.Parameter(f"p{i}", kind, annotation=real.class_of(name))
        for i, name in enumerate(parameters)
    ]

    def handler(*payloads):
        return None

    # None as an annotation is NoneType to get_type_hints, as it is in a source file.
    handler.__signature__ = inspect.Signature(made, return_annotation=real.class_of(result))
    handler.__annotations__ = {p.name: p.annotation for p in made} | {
        "return": real.class_of(result)
    }
    return handler


def outcome(context, name, parameters, result, handler, pool):
    """Where the real server stops, and with which words; or that it starts."""
    kind = real.RequestType[name]
    server = mq.MessageQueueServer(f"inproc://golden-{next(_numbers)}", context)
    server.is_finished.set()  # so that the thread of a started server ends at once
    stage = "add_handler"
    try:
        if handler is not None:
            payloads = protocol.get_payload_classes(kind)
            server.add_handler(kind, payloads, HandlerType[handler], function(parameters, result))
        stage = "add_pool"
        if pool:
            getattr(server, POOLS[pool])([kind], 1)
        stage = "start"
        server.start()
    except Exception as error:
        return {"stage": stage, "kind": type(error).__name__, "error": str(error)}
    finally:
        server.close()
    return {"ok": True}


def other(name):
    return "str" if name != "str" else "int"


def signatures(definition):
    """(about, parameters, result): the right signature, and each way to miss it."""
    right, result = definition["payloads"], definition["result"]
    yield "right", right, result
    yield "a parameter more", [*right, "int"], result
    if right:
        yield "a parameter less", right[:-1], result
        yield "no parameters", [], result
    for i, name in enumerate(right):
        yield f"parameter {i} of another type", [*right[:i], other(name), *right[i + 1 :]], result
    for i in range(len(right) - 1):
        if right[i] != right[i + 1]:
            swapped = [*right[:i], right[i + 1], right[i], *right[i + 2 :]]
            yield f"parameters {i} and {i + 1} swapped", swapped, result
    yield "another result", right, "None" if result != "None" else "bool"
    for near in NEAR.get(result, ()):
        yield "nearly the result", right, near


NEAR = {
    "int | None": ("int", "None"),
    "tuple[bytes, bool]": ("bytes", "list[tuple[int, int]]"),
    "list[tuple[int, int]]": ("list[CBMatchResult]", "list[int]"),
    "list[CBMatchResult]": ("list[tuple[int, int]]",),
    "bool": ("int",),
    "int": ("int | None", "bool"),
}


def cases(definitions):
    for definition in definitions:
        name, handler = definition["name"], definition["handler"]
        right, result = definition["payloads"], definition["result"]
        pool = "normal" if handler == "BLOCKING" else None
        for about, parameters, answer in signatures(definition):
            yield about, name, parameters, answer, handler, pool
        yield "NON_BLOCKING", name, right, result, "NON_BLOCKING", None
        more = [*right, "int"]
        yield "NON_BLOCKING, and a parameter more", name, more, result, "NON_BLOCKING", None
        yield "BLOCKING, affinity pool", name, right, result, "BLOCKING", "affinity"
        yield "BLOCKING without a pool", name, right, result, "BLOCKING", None
        yield "SYNC with a pool", name, right, result, "SYNC", "normal"
        yield "SYNC with an affinity pool", name, right, result, "SYNC", "affinity"
        yield "a pool without a handler", name, right, result, None, "normal"
        yield "an affinity pool without a handler", name, right, result, None, "affinity"
        unusual = "SYNC" if handler == "BLOCKING" else "BLOCKING"
        yield UNUSUAL, name, right, result, unusual, None if pool else "normal"


def make(out, definitions):
    made, context = [], zmq.Context()
    for about, name, parameters, result, handler, pool in cases(definitions):
        asked = {
            "about": about,
            "type": name,
            "parameters": parameters,
            "result": result,
            "handler": handler,
            "pool": pool,
        }
        answer = outcome(context, name, parameters, result, handler, pool)
        if about == UNUSUAL:
            answer["stricter"] = "the real check does not compare the handler type"
        made.append(asked | answer)
    context.term()
    header = {
        "count": len(made),
        "how": "MessageQueueServer.add_handler, then add_normal_thread_pool or "
        "add_affinity_thread_pool, then start",
    }
    out.document("handlers.json", header, cases=made)
    return len(made)
