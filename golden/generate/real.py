# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""The real LMCache: the one place where it is imported. All of golden is asked of these objects."""

import logging
import sys
from importlib.metadata import PackageNotFoundError, version

RELEASE = "0.4.5"

try:
    INSTALLED = version("lmcache")
except PackageNotFoundError:
    INSTALLED = "none"
if INSTALLED != RELEASE:
    sys.exit(f"this needs a python with lmcache=={RELEASE}; {sys.executable} has {INSTALLED}")
logging.disable(logging.CRITICAL)

import lmcache  # noqa: E402,F401
import torch  # noqa: E402
from lmcache.utils import EngineType  # noqa: E402
from lmcache.v1.distributed import api  # noqa: E402,F401
from lmcache.v1.gpu_connector.utils import LayoutHints  # noqa: E402
from lmcache.v1.multiprocess import custom_types, mq, protocol, protocols  # noqa: E402,F401
from lmcache.v1.multiprocess.token_hasher import TokenHasher  # noqa: E402,F401

Key = custom_types.IPCCacheEngineKey
Record = custom_types.BlockAllocationRecord
Match = custom_types.CBMatchResult
Wrapper = custom_types.CudaIPCWrapper
RawWrapper = custom_types.RawCudaIPCWrapper
RequestType = protocols.RequestType

# The seed's spelling of each payload and result type, the class, and the name of its files.
TYPES = {
    "None": (None, "none"),
    "int": (int, "int"),
    "bool": (bool, "bool"),
    "str": (str, "str"),
    "bytes": (bytes, "bytes"),
    "int | None": (int | None, "optional_int"),
    "IPCCacheEngineKey": (Key, "key"),
    "KVCache": (custom_types.KVCache, "kv_cache"),
    "EngineType": (EngineType, "engine_type"),
    "LayoutHints": (LayoutHints, "layout_hints"),
    "list[int]": (list[int], "int_list"),
    "list[BlockAllocationRecord]": (list[Record], "block_allocation_records"),
    "tuple[bytes, bool]": (tuple[bytes, bool], "transfer_result"),
    "list[tuple[int, int]]": (list[tuple[int, int]], "ranges"),
    "list[CBMatchResult]": (list[Match], "cb_match_results"),
}


def type_name(cls):
    """The spelling of a class that the registry names; a KeyError is a type that we do not know."""
    for name, (known, _) in TYPES.items():
        if known == cls:
            return name
    raise KeyError(cls)


def class_of(name):
    return TYPES[name][0]


def decode(name, frame):
    return mq.msgspec_decode(frame, cls=class_of(name))


def encode(name, value):
    return mq.msgspec_encode(value, cls=class_of(name))


def made_with():
    """What else has a say in messages of errors: not compared, but printed when a check fails."""
    return {
        "lmcache": RELEASE,
        "msgspec": version("msgspec"),
        "torch": torch.__version__,
        "python": sys.version.split()[0],
    }
