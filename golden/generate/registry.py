# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""registry.json: the definitions, dumped from the real modules."""

import real


def definition(number, name, group, known):
    return {
        "number": number,
        "name": name,
        "group": group,
        "payloads": [real.type_name(cls) for cls in known.payload_classes],
        "result": real.type_name(known.response_class),
        "handler": known.handler_type.name,
    }


def dump():
    groups = {}
    for group, module in real.protocols._PROTOCOL_MODULES:
        for name in module.get_protocol_definitions():
            groups[name] = group
    known = real.protocols.initialize_protocols()
    return [definition(m.value, m.name, groups[m.name], known[m]) for m in real.RequestType]


def modules():
    """The modules as data, in the order in which the real function visits them."""
    return [
        {
            "name": group,
            "request_names": list(module.REQUEST_NAMES),
            "definitions": list(module.get_protocol_definitions()),
        }
        for group, module in real.protocols._PROTOCOL_MODULES
    ]


def make(out):
    header = {
        "how": "RequestType, _PROTOCOL_MODULES and initialize_protocols() "
        "of lmcache.v1.multiprocess.protocols"
    }
    out.document("registry.json", header, definitions=dump(), modules=modules())
