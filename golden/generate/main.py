#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Makes golden/<release> by asking the real LMCache, or checks that what is there is what it says.

    PYTHON main.py --out golden/0.4.5            write all files
    PYTHON main.py --out golden/0.4.5 --check    make them again, compare byte for byte

PYTHON must have lmcache==0.4.5. Nothing here runs a hostile pickle.
"""

import argparse
import os
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="the folder of one release, golden/0.4.5")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a file differs")
    args = parser.parse_args()

    import frames
    import hashes
    import pickles
    import real
    import registry
    import type_frames
    from output import Output

    out = Output()
    registry.make(out)
    hashes.make(out)
    print("pickles: {} good, {} odd, {} to be refused".format(*pickles.make(out)))
    print(f"type frames: {type_frames.make(out)}")
    for name, (accept, reject) in frames.make(out).items():
        print(f"{name}: {accept} accepted, {reject} refused")
    if not args.check:
        out.write(args.out)
        print(f"{len(out.files)} files, {sum(map(len, out.files.values()))} bytes in {args.out}")
        return 0
    differences = out.differences(args.out)
    for line in differences:
        print(line)
    print(f"{len(out.files)} files made with {real.made_with()}, {len(differences)} differ")
    return 1 if differences else 0


if __name__ == "__main__":
    # Messages of the real code print sets, whose order hangs on this.
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})
    sys.exit(main())
