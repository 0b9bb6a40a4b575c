# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""registry.json: the definitions, dumped from the real modules. `real` is the module of this folder
that imports LMCache: real.py, or other_release.py for a release of which there is nothing else."""


def definition(real, number, name, group, known):
    return {
        "number": number,
        "name": name,
        "group": group,
        "payloads": [real.type_name(cls) for cls in known.payload_classes],
        "result": real.type_name(known.response_class),
        "handler": known.handler_type.name,
    }


def dump(real):
    groups = {}
    for group, module in real.protocols._PROTOCOL_MODULES:
        for name in module.get_protocol_definitions():
            groups[name] = group
    known = real.protocols.initialize_protocols()
    return [definition(real, m.value, m.name, groups[m.name], known[m]) for m in real.RequestType]


def modules(real):
    """The modules as data, in the order in which the real function visits them."""
    return [
        {
            "name": group,
            "request_names": list(module.REQUEST_NAMES),
            "definitions": list(module.get_protocol_definitions()),
        }
        for group, module in real.protocols._PROTOCOL_MODULES
    ]


def make(out, real):
    header = {
        "how": "RequestType, _PROTOCOL_MODULES and initialize_protocols() "
        "of lmcache.v1.multiprocess.protocols"
    }
    out.document("registry.json", header, definitions=dump(real), modules=modules(real))
