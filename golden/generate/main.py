#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Makes golden/<release> by asking the real LMCache, or checks that what is there is what it says.

    PYTHON main.py --out golden/0.4.5            write all files
    PYTHON main.py --out golden/0.4.5 --check    make them again, compare byte for byte

With --server and --blend-server (endpoints of the real servers on the host device, started with
--chunk-size 32) messages/ is recorded anew; without, the committed messages are kept and checked.

PYTHON must have lmcache==0.4.5. Nothing here runs a hostile pickle.
"""

import argparse
import os
import sys
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", required=True, help="the folder of one release, golden/0.4.5")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 where a file differs"
    )
    parser.add_argument("--server", help="tcp://HOST:PORT of a real server")
    parser.add_argument("--blend-server", help="the same, of the blend server")
    args = parser.parse_args()

    import frames
    import handlers
    import hashes
    import messages
    import pickles
    import real
    import registry
    import type_frames
    import validation
    from output import Output, made_with_difference, write_made_with

    out = Output()
    registry.make(out, real)
    print(f"validation: {validation.make(out)}")
    print(f"handlers: {handlers.make(out, registry.dump(real))}")
    hashes.make(out)
    out.run("layouts.json", Path(__file__).with_name("layouts.py"))
    messages.make(out, args.out, args.server, args.blend_server)
    print("pickles: {} good, {} odd, {} to be refused".format(*pickles.make(out)))
    print(f"type frames: {type_frames.make(out)}")
    for name, (accept, reject) in frames.make(out).items():
        print(f"{name}: {accept} accepted, {reject} refused")
    if not args.check:
        out.write(args.out)
        write_made_with(args.out, real.made_with())
        print(f"{len(out.files)} files, {sum(map(len, out.files.values()))} bytes in {args.out}")
        return 0
    differences = out.differences(args.out)
    for line in differences:
        print(line)
    versions = made_with_difference(args.out, real.made_with())
    if versions:
        print(versions)
    print(f"{len(out.files)} files made again, {len(differences)} differ")
    return 1 if differences else 0


if __name__ == "__main__":
    # Messages of the real code print sets, whose order hangs on this.
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(
            sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"}
        )
    sys.exit(main())
