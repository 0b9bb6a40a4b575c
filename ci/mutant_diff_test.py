#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""mutant_diff_test.py BIN: `kvconform diff` between a good server's run and a flawed one's names what broke, by which
server, and ends with 1; the other way round it says that all is fixed, and ends with 0."""

import pathlib
import subprocess
import sys
import tempfile

BIN = pathlib.Path(sys.argv[1])
FLAW, BROKEN, WHOLE = "uid-written-anew", "Envelope.EchoesNonMinimalUids", "Envelope.EchoesShortUids"


def judged(folder, version, options):
    report = folder / f"{version}.json"
    start = f"exec {BIN}/kvserver-mutants {options} --bind tcp://127.0.0.1:{{port}} --log-level error"
    subprocess.run([BIN / "kvconform", "run", "--start", start, "--filter", "Envelope.Echoes*", "--seed", "1",
                    "--server-version", version, "--json", report, "--repro-dir", folder / "repro",
                    "--timeout-ms", "2000"], check=False, stdout=subprocess.DEVNULL)
    return report


def diff(old, new):
    done = subprocess.run([BIN / "kvconform", "diff", old, new], check=False, text=True, stdout=subprocess.PIPE)
    return done.returncode, done.stdout


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        good, bad = judged(folder, "without-a-flaw", ""), judged(folder, FLAW, f"--flaw {FLAW}")
        code, text = diff(good, bad)
        print(text)
        assert code == 1, f"a regression ends with 1, and not {code}"
        assert BROKEN in text and WHOLE not in text, f"{BROKEN} is named, and {WHOLE} is not"
        assert FLAW in text, f"the version {FLAW} is named"
        code, text = diff(bad, good)
        print(text)
        assert code == 0 and BROKEN in text, "what was mended is named, and is no regression"


if __name__ == "__main__":
    main()
