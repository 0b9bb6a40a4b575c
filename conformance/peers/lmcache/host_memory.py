# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Host device, memory: POSIX shared memory behind 64-byte handles.

    memory handle   b"KVHOSTM1" and the shm name with its leading "/", NUL-padded to 64 bytes
    event handle    b"KVHOSTE1" and the shm name, the same way

Who creates an object removes it. Names carry the maker's process id ("/kvlm-<pid>-<number>"), so
what a killed process left behind is swept by the next one that starts.
"""

import atexit
import itertools
import mmap
import os
import re

HANDLE_BYTES = 64
MEMORY_TAG = b"KVHOSTM1"
EVENT_TAG = b"KVHOSTE1"
NAME_PREFIX = "kvlm"

_SHM_FOLDER = "/dev/shm"
_numbers = itertools.count(1)
_created = set()


def create(size_bytes):
    """A new object of this process: (its name, its mapping, all zero)."""
    name = f"/{NAME_PREFIX}-{os.getpid()}-{next(_numbers)}"
    descriptor = os.open(_SHM_FOLDER + name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    _created.add(name)
    try:
        os.ftruncate(descriptor, size_bytes)
        return name, mmap.mmap(descriptor, size_bytes)
    finally:
        os.close(descriptor)


def open_existing(name):
    """Maps what another process created. RuntimeError, as CUDA's, when there is nothing to open."""
    if not re.fullmatch(r"/[^/\0]+", name) or name in ("/.", "/.."):
        raise RuntimeError(f"invalid shared memory name {name!r}")
    try:
        descriptor = os.open(_SHM_FOLDER + name, os.O_RDWR)
    except OSError as error:
        raise RuntimeError(f"cannot open shared memory {name}: {error.strerror}") from error
    try:
        return mmap.mmap(descriptor, os.fstat(descriptor).st_size)
    except (OSError, ValueError) as error:
        raise RuntimeError(f"cannot map shared memory {name}: {error}") from error
    finally:
        os.close(descriptor)


def remove(name):
    """Takes the name away; who has it mapped keeps it. Fine when it is gone already."""
    _created.discard(name)
    try:
        os.unlink(_SHM_FOLDER + name)
    except FileNotFoundError:
        pass


@atexit.register
def remove_all():
    """Removes every object that this process created and has not removed."""
    for name in list(_created):
        remove(name)


def sweep_dead_processes():
    """Removes the objects of makers that live no more."""
    for entry in os.listdir(_SHM_FOLDER):
        match = re.fullmatch(rf"{NAME_PREFIX}-(\d+)-\d+", entry)
        if match and not os.path.exists(f"/proc/{match[1]}"):
            remove("/" + entry)


def pack_handle(tag, name):
    return (tag + name.encode()).ljust(HANDLE_BYTES, b"\0")


def unpack_handle(tag, handle):
    """The shm name in a 64-byte handle. RuntimeError when it is another kind of handle."""
    handle = bytes(handle)
    if len(handle) != HANDLE_BYTES or not handle.startswith(tag):
        raise RuntimeError(f"invalid {tag.decode()} handle of {len(handle)} bytes")
    try:
        return handle[len(tag) :].rstrip(b"\0").decode()
    except UnicodeDecodeError as error:
        raise RuntimeError(f"invalid name in a {tag.decode()} handle") from error
