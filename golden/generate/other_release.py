#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Makes golden/<release>/registry.json of a release that is not judged as a whole, or checks it.

    PYTHONPATH=<the release's folder> PYTHON other_release.py --out golden/0.4.2 [--check]

The release is the one that Python finds: conformance/peers/lmcache/install puts 0.4.2 in a folder.
"""

import argparse
import logging
import sys
import typing
from importlib.metadata import version
from pathlib import Path

import registry
from output import Output

logging.disable(logging.CRITICAL)

import torch  # noqa: E402,F401  (the package wants it first)
from lmcache.v1.multiprocess import custom_types, protocols  # noqa: E402

RequestType = protocols.RequestType


def type_name(cls):
    """The seed's spelling: a class by its name, a generic by its parts."""
    if cls is None:
        return "None"
    if cls == custom_types.KVCache:
        return "KVCache"
    parts = [type_name(part) for part in typing.get_args(cls)]
    if isinstance(cls, type(int | None)):
        return " | ".join(parts)
    origin = typing.get_origin(cls)
    if origin is not None:
        return f"{origin.__name__}[{', '.join(parts)}]"
    return "None" if cls is type(None) else cls.__name__


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", required=True, help="the folder of the release, golden/0.4.2")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 on a difference")
    args = parser.parse_args()

    release = version("lmcache")
    if Path(args.out).name != release:
        sys.exit(f"{args.out} is not of {release}, the release that this Python finds")
    out = Output(release)
    registry.make(out, sys.modules[__name__])
    if not args.check:
        out.write(args.out)
        return 0
    differences = out.differences(args.out)
    for line in differences:
        print(line)
    print(f"{len(out.files)} file made again, {len(differences)} differ")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
