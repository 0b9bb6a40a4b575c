# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Output: the files of golden, kept in memory until they are written or compared."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path


def compact(value):
    return json.dumps(value, separators=(",", ":"))


MADE_WITH = "made_with.json"  # compared by name only: see made_with_difference()


class Output:
    def __init__(self, release="0.4.5"):
        self.release = release
        self.files = {}

    def lines(self, path, header, rows):
        """A .jsonl: the header, then one row a line."""
        header = {"kvconform": "golden", "release": self.release, **header}
        self.files[path] = "".join(compact(row) + "\n" for row in [header, *rows])

    def document(self, path, header, **lists):
        """A .json: a header, and named lists with one element a line, so that a diff is short."""
        parts = [f'"header":{compact({"kvconform": "golden", "release": self.release, **header})}']
        for name, rows in lists.items():
            parts.append(f'"{name}":[\n' + ",\n".join(compact(row) for row in rows) + "\n]")
        self.files[path] = "{\n" + ",\n".join(parts) + "\n}\n"

    def write(self, root):
        for path, text in self.files.items():
            target = Path(root) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)

    def run(self, path, program):
        """A file that a program of its own makes, given where to write."""
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "made"
            ran = subprocess.run([sys.executable, program, target], capture_output=True, text=True)
            if ran.returncode:
                raise SystemExit(f"{program}: exit {ran.returncode}\n{ran.stderr}")
            self.files[path] = target.read_text()

    def strangers(self, root):
        """Files that lie there and that no step makes."""
        found = {str(p.relative_to(root)) for p in Path(root).rglob("*") if p.is_file()}
        return sorted(found - set(self.files) - {MADE_WITH})

    def differences(self, root):
        """One line for each file that is not, byte for byte, what was made now."""
        out = [f"{path}: no step makes it" for path in self.strangers(root)]
        for path, text in self.files.items():
            target = Path(root) / path
            if not target.exists():
                out.append(f"{path}: missing")
            elif target.read_text() != text:
                out.append(f"{path}: {first_difference(target.read_text(), text)}")
        return out


def made_with_difference(root, now):
    """What to say when the versions are not those that made the committed files, or None."""
    target = Path(root) / MADE_WITH
    then = json.loads(target.read_text()) if target.exists() else {}
    return (
        None
        if then == now
        else f"made with {then}, checked with {now}: some words of errors may differ"
    )


def write_made_with(root, now):
    (Path(root) / MADE_WITH).write_text(compact(now) + "\n")


def first_difference(old, new):
    old_lines, new_lines = old.split("\n"), new.split("\n")
    for number, (a, b) in enumerate(zip(old_lines, new_lines), 1):
        if a != b:
            return f"line {number}: committed {a[:200]!r}, made {b[:200]!r}"
    return f"committed {len(old_lines)} lines, made {len(new_lines)}"
