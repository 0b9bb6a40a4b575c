# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Runs the real LMCache multiprocess server on the host device. See `start`.

Options are LMCache's own, with defaults that suit a test run, and --blend for its blend server.
SIGTERM and SIGINT stop it the way LMCache's own loop stops, and no shared memory is left behind.
"""

import os
import runpy
import signal
import sys
import threading

import host_memory
import host_patch

# Longer than LMCache's own shutdown takes when its threads live; some faults kill them.
_STOP_TIMEOUT_S = 2

_DEFAULTS = {
    "--host": "127.0.0.1",
    "--l1-size-gb": "1",
    "--eviction-policy": "LRU",
}


def _value(arguments, option):
    """The last value given for `option`, in either spelling, or None."""
    value = None
    for index, argument in enumerate(arguments):
        if argument == option and index + 1 < len(arguments):
            value = arguments[index + 1]
        elif argument.startswith(option + "="):
            value = argument.partition("=")[2]
    return value


def _with_defaults(arguments, quiet):
    given = list(arguments)
    for option, value in _DEFAULTS.items():
        if _value(given, option) is None:
            given += [option, value]
    if not any(a.startswith(("--disable-observability", "--trace-level")) for a in given):
        given.append(quiet)
    return given


def _stop(signal_number, frame):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # First of all: who sent the signal may not wait for the rest. What is mapped stays mapped.
    host_memory.remove_all()

    def give_up():
        host_memory.remove_all()
        os._exit(0)

    timer = threading.Timer(_STOP_TIMEOUT_S, give_up)
    timer.daemon = True
    timer.start()
    raise KeyboardInterrupt  # LMCache's loop stops on it


def main():
    arguments = sys.argv[1:]
    module = "lmcache.v1.multiprocess.server"
    if "--blend" in arguments:
        arguments.remove("--blend")
        module = "lmcache.v1.multiprocess.blend_server_v2"
    quiet = "--disable-observability"
    if "--blend-v1" in arguments:  # release 0.4.2
        arguments.remove("--blend-v1")
        module, quiet = "serve_blend_v1", "--disable-prometheus"
    host_memory.sweep_dead_processes()
    host_patch.patch_server()
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    sys.argv = ["start", *_with_defaults(arguments, quiet)]
    try:
        runpy.run_module(module, run_name="__main__")
    except KeyboardInterrupt:
        pass
    finally:
        host_memory.remove_all()


if __name__ == "__main__":
    main()
