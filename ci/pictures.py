#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""What a terminal showed, as a picture: pictures.py COMMAND RECORDED OUT.svg

The recording is what `script` wrote: progress lines are drawn over themselves, so of each line only
what stood last is kept. The middle of a long one is left out.
"""

import re
import sys

from rich.console import Console
from rich.text import Text

LINES_MAX = 46
PROGRESS = re.compile(r"^(\x1b\[[0-9;]*m)*\d+/\d+  ")


def last_state(line):
    """A line after its carriage returns and erasures."""
    line = line.rstrip("\r")
    for part in re.split(r"\r|\x1b\[2?K|\x1b\[1G", line)[::-1]:
        if part.strip():
            return part
    return ""


def main():
    command, recorded, picture = sys.argv[1:4]
    with open(recorded, encoding="utf-8", errors="replace") as file:
        lines = [last_state(line) for line in file.read().split("\n")]
    lines = [line for line in lines if not PROGRESS.match(line)]  # each was drawn over by the next
    while lines and not lines[-1].strip():
        lines.pop()
    if len(lines) > LINES_MAX:
        lines = lines[: LINES_MAX - 14] + ["  …"] + lines[-13:]
    with open("/dev/null", "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=112, file=nowhere, force_terminal=True)
        console.print(Text("$ " + command, style="bold"))
        for line in lines:
            console.print(Text.from_ansi(line))
        console.save_svg(picture, title="kvconform run")


main()
