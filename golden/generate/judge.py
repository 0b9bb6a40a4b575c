# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Judge: what the real decoder says to a frame. No hostile pickle may come here: it would run."""

import dataclasses
import re
from typing import Any, NamedTuple

import real
from typed_json import typed

_AT = re.compile(r" - at `(?:(?:key|value)` in `)?(\$[^`]*)`$")


class Verdict(NamedTuple):
    accepted: bool
    row: dict  # what the line says after "hex"
    value: Any = None


def built(value):
    """The value as its class's own constructor makes it. A dataclass that msgspec decoded lacks the
    attributes that were not on the wire, and msgspec would then leave them out again."""
    if dataclasses.is_dataclass(value):
        return dataclasses.replace(value)
    return [built(item) for item in value] if isinstance(value, list) else value


def judge(name, frame):
    try:
        value = real.decode(name, frame)
    except Exception as error:  # whatever it raises is a refusal
        message = str(error)
        place = _AT.search(message)
        row = {"path": place[1] if place else "$", "error": message, "kind": type(error).__name__}
        return Verdict(False, row)
    emit = real.encode(name, built(value))
    row = {"value": typed(value)}
    if emit != frame:
        row["emit"] = emit.hex()
    return Verdict(True, row, value)
