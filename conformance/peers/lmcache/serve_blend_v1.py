# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""The main part of LMCache 0.4.2's blend_server.py, with paragraph patterns as options.

LMCache takes the patterns from a table by the model's name; what they are is configuration. Without
--blend-start and --blend-end they are its default model's: 200006 and 200007.
"""

import sys

from lmcache.v1.multiprocess import blend_server


def _take_pattern(option):
    """The token ids behind `option`, "1,2,3", which is taken out of sys.argv; None without it."""
    for index, argument in enumerate(sys.argv):
        name, equals, value = argument.partition("=")
        if name != option:
            continue
        if not equals:
            value = sys.argv[index + 1]
        del sys.argv[index : index + (1 if equals else 2)]
        return [int(token) for token in value.split(",")]
    return None


def main():
    start, end = _take_pattern("--blend-start"), _take_pattern("--blend-end")
    if start and end:
        blend_server.get_sep_tokens = lambda: (start, end)
    args = blend_server.parse_args()
    blend_server.run_cache_server(
        mp_config=blend_server.parse_args_to_mp_server_config(args),
        storage_manager_config=blend_server.parse_args_to_config(args),
        prometheus_config=blend_server.parse_args_to_prometheus_config(args),
        telemetry_config=blend_server.parse_args_to_telemetry_config(args),
    )


if __name__ == "__main__":
    main()
