# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Typed JSON: decoded values as JSON that tells apart what Python tells apart."""

import dataclasses
import enum

import real

EXACT_MAX = 2**53


def typed(value):
    """The value in the notation of golden/README.md."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) <= EXACT_MAX else {"int": str(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, (list, tuple)):
        return [typed(item) for item in value]
    if isinstance(value, enum.Enum):
        return {"enum": value.value}
    if isinstance(value, real.torch.dtype):
        return str(value).removeprefix("torch.")
    if isinstance(value, real.Wrapper):
        return {"class": type(value).__name__, **{k: typed(v) for k, v in vars(value).items()}}
    if dataclasses.is_dataclass(value):
        return {f.name: typed(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {k: typed(v) for k, v in value.items()}
    raise TypeError(type(value))
