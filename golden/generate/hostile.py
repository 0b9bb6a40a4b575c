# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Hostile pickles: assembled from opcodes, each with the reason why it must be refused. They are
data. Nothing here loads one, and nothing may: several would run a command in whoever does."""

import hostile_calls
import hostile_sizes
import hostile_stacks

# A reason that begins so: nothing runs and a wrapper comes out, so a reader may take it.
EITHER = "either: "


def rows():
    seen = set()
    for family in (hostile_calls.all_calls, hostile_stacks.all_stacks, hostile_sizes.all_sizes):
        for name, data, reason in family():
            if data not in seen:
                seen.add(data)
                verdict = "either" if reason.startswith(EITHER) else "refuse"
                yield {"name": name, "hex": data.hex(), verdict: reason.removeprefix(EITHER)}
