#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Form, so that people need not argue about it. Fails with `file:line: what is wrong`.

The one rule that matters most is the direction in which data flows: a folder may use those above it,
and the referee never knows the engine or the server that it judges.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What each layer may include and link, besides itself. README.md shows the same order.
MAY_USE = {
    "reference/protocol": [],
    "reference/device": ["reference/protocol"],
    "reference/engine": ["reference/protocol", "reference/device"],
    "reference/server": ["reference/protocol", "reference/device", "reference/engine"],
    # Flaws of the server, for tests: it may use all of the reference, and nothing uses it.
    "reference/mutants": ["reference/protocol", "reference/device", "reference/engine",
                          "reference/server"],
    "conformance": ["reference/protocol", "reference/device"],
    "fuzz": ["reference/protocol", "reference/device", "reference/engine", "reference/server",
             "conformance"],
    "bench": ["reference/protocol", "reference/device", "reference/engine", "reference/server",
              "conformance"],
}  # fmt: skip

CPP = {".h", ".cc", ".cu", ".cuh"}
SCRIPTS = {".py", ".sh", ".cmake"}
LINE_COLUMNS_MAX = 100
FILE_LINES_LOOK, FILE_LINES_MAX = 400, 600

FORBIDDEN = [
    (re.compile(r"/(?:work|root|home)/"), "a path of somebody's machine"),
    (re.compile(r"https?://(?:deb|security|snapshot|pypi|files)\.[a-z]"), "a registry's host"),
    (re.compile(r"TODO\(now\)|FIXME|XXX\b"), "something that was to be done before the commit"),
]
SLEEP = re.compile(r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\b")
SPDX = "SPDX-License-Identifier: Apache-2.0"

problems = []
notes = []


def problem(path, line, what):
    problems.append(f"{path}:{line}: {what}")


def files_of_the_tree():
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
        names = listed.decode().split("\0")[:-1]
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file()]
        names = [n for n in names if not n.startswith(("build", ".git/"))]
    return sorted(pathlib.PurePosixPath(n) for n in names if (ROOT / n).is_file())


def layer_of(path):
    text = str(path)
    return next((layer for layer in MAY_USE if text.startswith(layer + "/")), None)


def check_use(path, line, layer, used, how):
    if used and used != layer and used not in MAY_USE[layer]:
        problem(path, line, f"{layer} may not {how} {used}")


def included_file(path, name):
    """The file of ours that `#include "name"` in `path` means, or None."""
    public = re.match(r"kvc/(\w+)/", name)
    places = [
        pathlib.PurePosixPath(f"reference/{public[1]}/include") if public else path.parent,
        pathlib.PurePosixPath(""),
        pathlib.PurePosixPath("reference"),
        path.parent,
    ]
    return next((p / name for p in places if (ROOT / p / name).is_file()), None)


def check_includes(path, lines):
    layer = layer_of(path)
    includes = [
        (number, match[1])
        for number, line in enumerate(lines, 1)
        if (match := re.match(r'\s*#\s*include\s*"([^"]+)"', line))
    ]
    for number, name in includes:
        target = included_file(path, name)
        if target is None:
            problem(path, number, f'"{name}" is no file of the tree; use <> for what is not ours')
        elif layer:
            check_use(path, number, layer, layer_of(target), "include")
    own = path.with_suffix(".h").name
    if path.suffix == ".cc" and includes and (ROOT / path.with_suffix(".h")).is_file():
        if pathlib.PurePosixPath(includes[0][1]).name != own:
            problem(path, includes[0][0], f"a source includes its own header, {own}, first")


def check_links(path, text):
    layer = layer_of(path)
    if not layer:
        return
    for call in re.finditer(r"(?:target_link_libraries|kvc_test)\s*\(([^)]*)\)", text):
        line = text.count("\n", 0, call.start()) + 1
        for library in re.findall(r"\bkvc(?:::|_)(\w+)", call[1]):
            for candidate in MAY_USE:
                if library.split("_")[0] == candidate.split("/")[-1]:
                    check_use(path, line, layer, candidate, "link")


def check_cpp(path, lines):
    is_test = any(line.startswith(("TEST(", "TEST_F(", "TEST_P(")) for line in lines)
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_COLUMNS_MAX:
            problem(path, number, f"{len(line)} columns; at most {LINE_COLUMNS_MAX}")
        if "\t" in line:
            problem(path, number, "a tab")
        if is_test and SLEEP.search(line):
            problem(path, number, "a test that sleeps; wait for what happens instead")
    if path.suffix == ".h" and "#pragma once" not in lines:
        problem(path, 1, "a header without #pragma once")
    if len(lines) > FILE_LINES_MAX:
        problem(path, len(lines), f"{len(lines)} lines; split it at {FILE_LINES_MAX}")
    elif len(lines) > FILE_LINES_LOOK:
        notes.append(f"{path}: {len(lines)} lines; look whether it holds two ideas")


def is_script(path, lines):
    return path.suffix in SCRIPTS or path.name == "CMakeLists.txt" or lines[:1] and (
        lines[0].startswith("#!")
    )


def check_file(path):
    try:
        text = (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return  # data
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    elif text:
        problem(path, len(lines), "no newline at the end")
    code = path.suffix in CPP or is_script(path, lines)
    if code:
        if not any(SPDX in line for line in lines[:3]):
            problem(path, 1, f"the first lines do not say {SPDX}")
        for number, line in enumerate(lines, 1):
            if line != line.rstrip():
                problem(path, number, "blanks at the end of the line")
    if path.name != "tidy.py":
        for number, line in enumerate(lines, 1):
            for pattern, what in FORBIDDEN:
                if match := pattern.search(line):
                    problem(path, number, f"{what}: {match[0]}")
    if path.suffix in CPP:
        check_cpp(path, lines)
        check_includes(path, lines)
    if path.name == "CMakeLists.txt":
        check_links(path, text)


def main():
    files = files_of_the_tree()
    checked = [path for path in files if path.suffix in CPP]
    if not checked:
        sys.exit("tidy: no source file found: is this the tree?")
    for path in files:
        check_file(path)
    for note in notes:
        print(f"note: {note}")
    for line in problems:
        print(line)
    print(f"tidy: {len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
