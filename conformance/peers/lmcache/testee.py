# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""The real LMCache as a testee: its own registry, decoders, encoders, pickles, hasher and handler
checks, asked over the pipe of conformance/testee/README.md. Nothing is judged or mended here.

    kvconform testee 'PYTHON conformance/peers/lmcache/testee.py'      (PYTHON has lmcache==0.4.5)
"""

import dataclasses
import enum
import inspect
import itertools
import logging
import os
import re
import struct
import sys
import types
from importlib.metadata import version
from unittest import mock

# Replies go to the real stdout; whatever the package prints goes to stderr.
PIPE = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)

import msgspec  # noqa: E402
import torch  # noqa: E402
import zmq  # noqa: E402
from lmcache.utils import EngineType  # noqa: E402
from lmcache.v1.distributed import api  # noqa: E402
from lmcache.v1.gpu_connector.utils import LayoutHints  # noqa: E402
from lmcache.v1.multiprocess import custom_types, mq, protocol, protocols  # noqa: E402
from lmcache.v1.multiprocess.token_hasher import TokenHasher  # noqa: E402

Key = custom_types.IPCCacheEngineKey
Record = custom_types.BlockAllocationRecord
Match = custom_types.CBMatchResult
TYPES = {
    "None": None,
    "int": int,
    "bool": bool,
    "str": str,
    "bytes": bytes,
    "int | None": int | None,
    "IPCCacheEngineKey": Key,
    "KVCache": custom_types.KVCache,
    "EngineType": EngineType,
    "LayoutHints": LayoutHints,
    "list[int]": list[int],
    "list[BlockAllocationRecord]": list[Record],
    "tuple[bytes, bool]": tuple[bytes, bool],
    "list[tuple[int, int]]": list[tuple[int, int]],
    "list[CBMatchResult]": list[Match],
}
# msgspec ends its message with the place, "… - at `$.token_ids[3]`" or "… - at `key in `$``".
PLACE = re.compile(r" - at (?:`(?:key|value)` in )?`(\$[^`]*)`$")


class Refused(Exception):
    """An error with a kind that the pipe names."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


# --- values ------------------------------------------------------------------------------------


def plain(value):
    """A value of the package as what msgpack itself can say."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if isinstance(value, custom_types.CudaIPCWrapper):
        return {"class": type(value).__name__} | {k: plain(v) for k, v in vars(value).items()}
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    return value


def wrapper(value):
    attributes = dict(value)
    cls = getattr(custom_types, attributes.pop("class"))
    made = cls.__new__(cls)  # without __init__, which wants a tensor on a GPU
    attributes["dtype"] = getattr(torch, attributes["dtype"])
    for name in ("shape", "stride", "handle"):
        if attributes.get(name) is not None:
            attributes[name] = tuple(attributes[name])
    vars(made).update(attributes)
    return made


def real(name, value):
    """What `plain` made, as the package's own objects again."""
    if name == "KVCache":
        return [wrapper(item) for item in value]
    if name == "EngineType":
        return EngineType(value)
    if name == "IPCCacheEngineKey":
        return Key(**value | {"token_ids": tuple(value["token_ids"])})
    if name == "list[BlockAllocationRecord]":
        return [Record(**item) for item in value]
    if name == "list[CBMatchResult]":
        return [Match(**item) for item in value]
    if name == "tuple[bytes, bool]":
        return tuple(value)
    if name == "list[tuple[int, int]]":
        return [tuple(item) for item in value]
    return value


# --- registry ----------------------------------------------------------------------------------


def name_of(cls):
    return next(name for name, known in TYPES.items() if known == cls)


def request_type(name):
    try:
        return protocol.RequestType(name) if isinstance(name, int) else protocol.RequestType[name]
    except (KeyError, ValueError) as error:
        raise Refused("unknown_type", f"no request type {name!r}") from error


def definitions():
    """[(group, {name: definition})]: the package's modules."""
    return [(group, module) for group, module in protocols._PROTOCOL_MODULES]


def row(kind):
    group = next(g for g, m in definitions() if kind.name in m.get_protocol_definitions())
    return {
        "number": kind.value,
        "name": kind.name,
        "group": group,
        "payloads": [name_of(cls) for cls in protocol.get_payload_classes(kind)],
        "result": name_of(protocol.get_response_class(kind)),
        "handler": protocol.get_handler_type(kind).name,
    }


def position(type_name, at):
    """The class at a position, and its name."""
    kind = request_type(type_name)
    payloads = protocol.get_payload_classes(kind)
    if at == "result":
        cls = protocol.get_response_class(kind)
    elif isinstance(at, int) and 0 <= at < len(payloads):
        cls = payloads[at]
    else:
        raise Refused("unknown_position", f"{type_name} has no payload {at}")
    return cls, name_of(cls)


# --- the two lives that the package's own checks judge ------------------------------------------

INITIALIZE_KINDS = {
    "Duplicate protocol definition": "duplicate_definition",
    "is listed in REQUEST_NAMES but has no": "name_without_definition",
    "has no corresponding RequestType": "definition_without_enum_member",
    "have no protocol definitions": "enum_member_without_definition",
}


def initialize(members, modules):
    kinds = enum.Enum("RequestType", [tuple(member) for member in members])

    def module(data):
        made = {
            name: protocols.ProtocolDefinition(
                [TYPES.get(p, p) for p in d["payloads"]],
                TYPES.get(d["result"], d["result"]),
                getattr(protocols.HandlerType, d["handler"], d["handler"]),
            )
            for name, d in data["definitions"]
        }
        return data["name"], types.SimpleNamespace(
            REQUEST_NAMES=data["request_names"], get_protocol_definitions=lambda: made
        )

    with (
        mock.patch.object(protocols, "RequestType", kinds),
        mock.patch.object(protocols, "_PROTOCOL_MODULES", [module(data) for data in modules]),
    ):
        try:
            return len(protocols.initialize_protocols())
        except protocols.ProtocolInitializationError as error:
            words = str(error)
            kind = next((k for w, k in INITIALIZE_KINDS.items() if w in words), "unknown")
            raise Refused(kind, words) from error


class LastError(logging.Handler):
    """Keeps the last line that the package logged: it says there what was wrong with a handler."""

    text = ""

    def emit(self, record):
        self.text = record.getMessage()


SIGNATURE_KINDS = {
    "arguments, but got": "arity",
    " argument ": "parameter_type",
    "expects return type": "return_type",
}
POOLS = {"normal": "add_normal_thread_pool", "affinity": "add_affinity_thread_pool"}
NUMBERS = itertools.count()
CONTEXT = zmq.Context.instance()


def function(parameters, result):
    annotations = {f"p{i}": TYPES[name] for i, name in enumerate(parameters)}

    def handler(*_):
        return None

    handler.__signature__ = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=cls)
            for name, cls in annotations.items()
        ],
        return_annotation=TYPES[result],
    )
    handler.__annotations__ = annotations | {"return": TYPES[result]}
    return handler


def add_handler(type_name, parameters, result, handler, pool):
    kind = request_type(type_name)
    log = LastError()
    mq.logger.addHandler(log)
    server = mq.MessageQueueServer(f"inproc://testee-{next(NUMBERS)}", CONTEXT)
    server.is_finished.set()  # so that the thread of a started server ends at once
    try:
        if handler is not None:
            server.add_handler(
                kind,
                protocol.get_payload_classes(kind),
                protocol.HandlerType[handler],
                function(parameters, result),
            )
        if pool != "none":
            getattr(server, POOLS[pool])([kind], 1)
        server.start()
    except NotImplementedError as error:
        raise Refused("non_blocking", str(error)) from error
    except TypeError as error:
        raise Refused("pool_not_blocking", str(error)) from error
    except RuntimeError as error:
        raise Refused("pool_missing", str(error)) from error
    except ValueError as error:
        if "No handler registered" in str(error):
            raise Refused("handler_missing", str(error)) from error
        said = next((k for words, k in SIGNATURE_KINDS.items() if words in log.text), "unknown")
        raise Refused(said, log.text) from error
    finally:
        server.close()
        mq.logger.removeHandler(log)


# --- commands ----------------------------------------------------------------------------------


def decode(type_name, at, frame):
    cls, _ = position(type_name, at)
    return plain(mq.msgspec_decode(frame, cls=cls))


def encode(type_name, at, value):
    cls, name = position(type_name, at)
    return mq.msgspec_encode(real(name, value), cls=cls)


def chunk_hashes(m):
    hasher = TokenHasher(m["chunk_size"], "blake3")
    return hasher.compute_chunk_hashes(
        m["tokens"], m.get("prefix"), m.get("start", 0), m.get("end")
    )


def batch(function, items):
    return [answer(lambda item=item: function(*item)) for item in items]


COMMANDS = {
    "hello": lambda m: {
        "name": "LMCache",
        "version": version("lmcache"),
        "release": "0.4.5",
        "implemented": list(COMMANDS),
    },
    "registry": lambda m: [row(kind) for kind in protocol.RequestType],
    "modules": lambda m: [
        {
            "name": group,
            "request_names": list(module.REQUEST_NAMES),
            "definitions": list(module.get_protocol_definitions()),
        }
        for group, module in definitions()
    ],
    "describe": lambda m: row(request_type(m["type"])),
    "initialize": lambda m: initialize(m["enum"], m["modules"]),
    "decode": lambda m: decode(m["type"], m["position"], m["bytes"]),
    "encode": lambda m: encode(m["type"], m["position"], m["value"]),
    "decode_batch": lambda m: batch(decode, m["frames"]),
    "encode_batch": lambda m: batch(encode, m["values"]),
    "decode_type": lambda m: mq.msgspec_decode(m["bytes"], cls=protocol.RequestType).value,
    "decode_pickle": lambda m: plain(custom_types.CudaIPCWrapper.Deserialize(m["bytes"])),
    "chunk_hashes": chunk_hashes,
    "object_keys": lambda m: plain(
        api.ipc_key_to_object_keys(real("IPCCacheEngineKey", m["key"]), m["hashes"])
    ),
    "add_handler": lambda m: add_handler(
        m["type"], m["payloads"], m["result"], m["handler"], m["pool"]
    ),
}


def answer(ask):
    try:
        return {"ok": ask()}
    except Refused as error:
        return {"error": {"kind": error.kind, "path": "$", "message": str(error)}}
    except Exception as error:  # whatever the package raises is its refusal
        message = str(error)
        place = PLACE.search(message)
        path = place[1] if place else "$"
        return {"error": {"kind": type(error).__name__, "path": path, "message": message}}


def reply_to(message):
    command = COMMANDS.get(message.get("command"))
    if command is None:
        return {"unimplemented": f"no command {message.get('command')!r}"}
    return answer(lambda: command(message))


def main():
    # Only LastError is to hear what the package logs.
    logging.getLogger("lmcache").setLevel(logging.ERROR)
    while header := sys.stdin.buffer.read(4):
        (length,) = struct.unpack("<I", header)
        message = msgspec.msgpack.decode(sys.stdin.buffer.read(length))
        reply = msgspec.msgpack.encode(reply_to(message))
        PIPE.write(struct.pack("<I", len(reply)) + reply)
        PIPE.flush()


if __name__ == "__main__":
    main()
