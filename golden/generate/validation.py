# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""validation.json: modules that are wrong, one for each way to be wrong, put through the real
initialize_protocols(); and right ones beside them."""

import enum
from unittest import mock

import real
from real import protocols

ENUM = {"PUT": 1, "GET": 2, "NOOP": 3}


def definition(name, payloads=("int",), result="None", handler="SYNC"):
    return {
        "name": name,
        "payload_classes": list(payloads),
        "response_class": result,
        "handler_type": handler,
    }


def module(name, *definitions, names=None):
    listed = [d["name"] for d in definitions] if names is None else names
    return {"name": name, "request_names": list(listed), "definitions": list(definitions)}


PUT = definition("PUT", ("IPCCacheEngineKey", "bytes"), "tuple[bytes, bool]", "BLOCKING")
GET = definition("GET", ("IPCCacheEngineKey", "int"), "int | None", "BLOCKING")
NOOP = definition("NOOP", (), "str")
DATA, DEBUG = module("data", PUT, GET), module("debug", NOOP)
OTHER = "the real check does not look at this"


def right():
    yield "two modules", ENUM, [DATA, DEBUG]
    yield "modules in another order", ENUM, [DEBUG, DATA]
    yield "one module", ENUM, [module("all", PUT, GET, NOOP)]
    yield "a module for each", ENUM, [module(d["name"].lower(), d) for d in (PUT, GET, NOOP)]
    yield (
        "definitions in another order than the names",
        ENUM,
        [module("data", GET, PUT, names=["PUT", "GET"]), DEBUG],
    )
    yield "numbers with gaps", {"PUT": 7, "GET": 1000, "NOOP": 0}, [DATA, DEBUG]
    yield "negative number", {"PUT": -1, "GET": 2, "NOOP": 3}, [DATA, DEBUG]
    yield "an empty module", ENUM, [DATA, module("empty"), DEBUG]
    yield "nothing at all", {}, []
    yield "an empty module and no enum", {}, [module("empty")]
    yield "two modules of one name", ENUM, [module("data", PUT, GET), module("data", NOOP)]
    yield (
        "every payload type",
        ENUM,
        [module("all", definition("PUT", list(real.TYPES)), GET, NOOP)],
    )
    yield "the release's own", real_enum(), real_modules()


def wrong():
    ghost = definition("GHOST")
    yield "defined in two modules", ENUM, [DATA, module("debug", NOOP, PUT)]
    yield (
        "defined in two modules, differently",
        ENUM,
        [DATA, module("debug", NOOP, definition("PUT", ("str",)))],
    )
    yield (
        "defined in three modules",
        ENUM,
        [DATA, DEBUG, module("more", NOOP), module("again", NOOP)],
    )
    yield "defined in two modules of one name", ENUM, [DATA, DEBUG, module("data", PUT)]
    yield (
        "a name without a definition",
        ENUM,
        [DATA, module("debug", NOOP, names=["NOOP", "GHOST"])],
    )
    yield (
        "a name without a definition, which is in the enum",
        ENUM,
        [module("data", PUT, names=["PUT", "GET"]), DEBUG],
    )
    yield (
        "a name without a definition, which another module defines",
        ENUM,
        [DATA, module("debug", NOOP, names=["NOOP", "PUT"])],
    )
    yield (
        "two names without definitions: the first is told",
        ENUM,
        [DATA, module("debug", NOOP, names=["X", "NOOP", "Y"])],
    )
    yield "only names", ENUM, [module("data", names=["PUT", "GET"]), DEBUG]
    yield "a definition without an enum member", ENUM, [DATA, module("debug", NOOP, ghost)]
    yield (
        "a definition without an enum member, not listed",
        ENUM,
        [DATA, module("debug", NOOP, ghost, names=["NOOP"])],
    )
    yield (
        "two definitions without enum members: the first is told",
        ENUM,
        [DATA, module("debug", ghost, NOOP, definition("GHOST2"))],
    )
    yield "a definition in lower case", ENUM, [DATA, module("debug", definition("noop", (), "str"))]
    yield "an enum member without a definition", {**ENUM, "LATE": 4}, [DATA, DEBUG]
    yield "two enum members without definitions", {**ENUM, "LATE": 4, "LATER": 5}, [DATA, DEBUG]
    yield "an enum and no module", ENUM, []
    yield "a module is missing", ENUM, [DATA]
    yield "a definition that is not listed", ENUM, [DATA, module("debug", NOOP, names=[])]
    yield (
        "one definition of two that is not listed",
        ENUM,
        [module("data", PUT, GET, names=["PUT"]), DEBUG],
    )


def precedence():
    """Several faults at once: which one is told."""
    ghost = definition("GHOST")
    yield (
        "duplicate before a name without a definition",
        ENUM,
        [DATA, module("debug", NOOP, PUT, names=["NOOP", "X"])],
    )
    yield (
        "name without a definition before one without a member",
        ENUM,
        [module("data", PUT, GET, ghost, names=["PUT", "GET", "X"]), DEBUG],
    )
    yield (
        "the first module's fault before the second's",
        ENUM,
        [module("data", PUT, GET, ghost), module("debug", NOOP, PUT)],
    )
    yield (
        "the second module's fault before the enum's",
        {**ENUM, "LATE": 4},
        [DATA, module("debug", NOOP, names=["NOOP", "X"])],
    )
    yield (
        "without a member before the enum's",
        {**ENUM, "LATE": 4},
        [DATA, module("debug", NOOP, ghost)],
    )


def lenient():
    yield "a name listed twice", ENUM, [DATA, module("debug", NOOP, names=["NOOP", "NOOP"])], OTHER
    yield (
        "two members of one number: the second is an alias",
        {**ENUM, "ALIAS": 3},
        [DATA, DEBUG],
        "two members with one number",
    )
    yield (
        "two members of one number, both defined: the last definition wins",
        {**ENUM, "ALIAS": 3},
        [DATA, module("debug", NOOP, definition("ALIAS"))],
        "two members with one number",
    )
    yield (
        "unknown payload type",
        ENUM,
        [DATA, module("debug", definition("NOOP", ("Strange",), "str"))],
        OTHER,
    )
    yield (
        "unknown result type",
        ENUM,
        [DATA, module("debug", definition("NOOP", (), "Strange"))],
        OTHER,
    )
    yield (
        "NON_BLOCKING handler",
        ENUM,
        [DATA, module("debug", definition("NOOP", (), "str", "NON_BLOCKING"))],
        "refused later, when a handler is added",
    )
    yield (
        "unknown handler",
        ENUM,
        [DATA, module("debug", definition("NOOP", (), "str", "SOMETIMES"))],
        OTHER,
    )


def real_enum():
    return {m.name: m.value for m in real.RequestType}


def real_modules():
    out = []
    for name, group in protocols._PROTOCOL_MODULES:
        made = []
        for request, known in group.get_protocol_definitions().items():
            payloads = [real.type_name(cls) for cls in known.payload_classes]
            made.append(
                definition(
                    request, payloads, real.type_name(known.response_class), known.handler_type.name
                )
            )
        out.append(module(name, *made, names=group.REQUEST_NAMES))
    return out


class Module:
    """What initialize_protocols() sees of a module."""

    def __init__(self, data):
        self.REQUEST_NAMES = data["request_names"]
        self.definitions = {d["name"]: real_definition(d) for d in data["definitions"]}

    def get_protocol_definitions(self):
        return self.definitions


def real_definition(data):
    def known(name):
        return real.class_of(name) if name in real.TYPES else name

    handler = getattr(protocols.HandlerType, data["handler_type"], data["handler_type"])
    payloads = [known(name) for name in data["payload_classes"]]
    return protocols.ProtocolDefinition(payloads, known(data["response_class"]), handler)


def ask(members, modules):
    """What the real function says, its enum and its list of modules replaced."""
    stand_ins = [(m["name"], Module(m)) for m in modules]
    members = enum.Enum("RequestType", members)
    with (
        mock.patch.object(protocols, "_PROTOCOL_MODULES", stand_ins),
        mock.patch.object(protocols, "RequestType", members),
    ):
        try:
            made = protocols.initialize_protocols()
        except protocols.ProtocolInitializationError as error:
            return {"error": str(error)}
    return {"result": {member.name: member.value for member in made}}


def rows():
    for family in (right, wrong, precedence, lenient):
        for about, members, modules, *stricter in family():
            row = {"about": about, "enum": members, "modules": modules, **ask(members, modules)}
            assert ("error" in row) == (family in (wrong, precedence)), row
            yield row | ({"stricter": stricter[0]} if stricter else {})


def make(out):
    made = list(rows())
    header = {
        "count": len(made),
        "how": "initialize_protocols() of lmcache.v1.multiprocess.protocols, "
        "with RequestType and _PROTOCOL_MODULES replaced by the data",
    }
    out.document("validation.json", header, cases=made)
    return len(made)
