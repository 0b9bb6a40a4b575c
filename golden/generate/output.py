# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Output: the files of golden, kept in memory until they are written or compared."""

import json
from pathlib import Path


def compact(value):
    return json.dumps(value, separators=(",", ":"))


class Output:
    def __init__(self):
        self.files = {}

    def lines(self, path, header, rows):
        """A .jsonl: the header, then one row a line."""
        header = {"kvconform": "golden", "release": "0.4.5", **header}
        self.files[path] = "".join(compact(row) + "\n" for row in [header, *rows])

    def document(self, path, header, **lists):
        """A .json: a header, and named lists with one element a line, so that a diff can be read."""
        parts = [f'"header":{compact({"kvconform": "golden", "release": "0.4.5", **header})}']
        for name, rows in lists.items():
            parts.append(f'"{name}":[\n' + ",\n".join(compact(row) for row in rows) + "\n]")
        self.files[path] = "{\n" + ",\n".join(parts) + "\n}\n"

    def write(self, root):
        for path, text in self.files.items():
            target = Path(root) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        for stale in self.strangers(root):
            (Path(root) / stale).unlink()

    def strangers(self, root):
        """Files that lie there and that no step makes."""
        found = {str(p.relative_to(root)) for p in Path(root).rglob("*") if p.is_file()}
        return sorted(found - set(self.files))

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


def first_difference(old, new):
    old_lines, new_lines = old.split("\n"), new.split("\n")
    for number, (a, b) in enumerate(zip(old_lines, new_lines), 1):
        if a != b:
            return f"line {number}: committed {a[:200]!r}, made {b[:200]!r}"
    return f"committed {len(old_lines)} lines, made {len(new_lines)}"
