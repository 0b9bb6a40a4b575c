# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Shared memory: buffers and an event of the host device, under names that do not change from run
to run, so that the requests that carry them do not change either."""

import contextlib
import os
import struct

import real
from wrappers import strides, wrapper

PREFIX = "/kvc-golden-"
UUID = "HOST-kvconform"


def handle(tag, name):
    """A handle of the host device: eight letters, then the name, 64 bytes in all."""
    return tag + name.encode().ljust(56, b"\0")


@contextlib.contextmanager
def buffers(sizes):
    """Creates one shared object for each name and size in bytes; removes them at the end."""
    paths = [f"/dev/shm{PREFIX}{name}" for name in sizes]
    try:
        for path, size in zip(paths, sizes.values()):
            with open(path, "wb") as file:
                file.truncate(size)
        # The event: recorded once, and that record complete.
        with open(f"/dev/shm{PREFIX}event", "wb") as file:
            file.write(struct.pack("<QQ", 1, 1))
        yield
    finally:
        for path in [*paths, f"/dev/shm{PREFIX}event"]:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def event_handle():
    return handle(b"KVHOSTE1", PREFIX + "event")


def tensor(name, shape, dtype="float16"):
    """The wrapper of a tensor that fills the buffer of that name."""
    size = getattr(real.torch, dtype).itemsize * shape[0] * strides(shape)[0]
    memory = b"\x01c" + handle(b"KVHOSTM1", PREFIX + name)
    return wrapper(
        (0, memory, size, 0, bytes(64), 0, bytes(64), False), dtype, shape, uuid=UUID
    ), size
