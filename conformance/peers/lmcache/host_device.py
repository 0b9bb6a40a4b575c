# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Host device, execution: streams and events with the interface of torch.cuda's.

A stream is an ordered queue of work with a thread of its own, so that a reply can leave before the
copy is done, as on a GPU. An event is 16 bytes of shared memory, two little-endian u64:

    recorded    += 1 by record(), at once
    completed   = that number, when the stream gets there

wait() makes a stream wait until completed >= what recorded was when the wait was asked for, so an
event that was never recorded is complete.
"""

import collections
import contextlib
import itertools
import queue
import struct
import sys
import threading
import time
import traceback
import weakref

import host_memory

# An importer opens an event only when the reply has reached it, and by then the exporter may have
# dropped its own object. The last ones stay openable.
EXPORTED_EVENTS_KEPT = 4096
_POLL_S = 0.0003

_thread_state = threading.local()
_stream_ids = itertools.count(1)
_streams = weakref.WeakValueDictionary()


def current_stream():
    """The stream that `with backend.stream(s)` made current on this thread, or None."""
    return getattr(_thread_state, "stream", None)


def _run_queue(work):
    while (task := work.get()) is not None:
        try:
            task()
        except Exception:  # a fault of the device: said, and the stream goes on
            print("host device: work on a stream failed", file=sys.stderr)
            traceback.print_exc()
        finally:
            task = None  # the next get() may wait for long: let go of what the task held


class Stream:
    def __init__(self, device=None, priority=0):
        self.device = device
        self.cuda_stream = next(_stream_ids)  # stands where the address of the CUDA stream stands
        self._work = queue.SimpleQueue()
        threading.Thread(target=_run_queue, args=(self._work,), daemon=True).start()
        _streams[self.cuda_stream] = self

    def __del__(self):
        self._work.put(None)  # behind all that was submitted

    def submit(self, task):
        self._work.put(task)

    def synchronize(self):
        reached = threading.Event()
        self.submit(reached.set)
        reached.wait()

    @staticmethod
    def priority_range():
        return (0, -1)


class ExternalStream:
    """Stands in for cupy.cuda.ExternalStream: a stream of ours, known by its number."""

    def __init__(self, ptr, device_id=-1):
        self.ptr = ptr
        self._stream = _streams[ptr]

    def launch_host_func(self, callback, argument):
        self._stream.submit(lambda: callback(argument))


class _EventMemory:
    def __init__(self, name, mapping):
        self.name = name
        self.mapping = mapping

    def recorded(self):
        return struct.unpack_from("<Q", self.mapping, 0)[0]

    def completed(self):
        return struct.unpack_from("<Q", self.mapping, 8)[0]

    def record(self):
        number = self.recorded() + 1
        struct.pack_into("<Q", self.mapping, 0, number)
        return number

    def complete(self, number):
        struct.pack_into("<Q", self.mapping, 8, number)


_exported = collections.deque()
_exported_lock = threading.Lock()


def _keep_openable(name):
    with _exported_lock:
        _exported.append(name)
        while len(_exported) > EXPORTED_EVENTS_KEPT:
            host_memory.remove(_exported.popleft())


class Event:
    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        self._memory = _EventMemory(*host_memory.create(16))
        _keep_openable(self._memory.name)

    @classmethod
    def from_ipc_handle(cls, device, handle):
        name = host_memory.unpack_handle(host_memory.EVENT_TAG, handle)
        mapping = host_memory.open_existing(name)
        if len(mapping) < 16:
            raise RuntimeError(f"shared memory {name} is too small for an event")
        event = cls.__new__(cls)
        event._memory = _EventMemory(name, mapping)
        return event

    def ipc_handle(self):
        return host_memory.pack_handle(host_memory.EVENT_TAG, self._memory.name)

    def record(self, stream=None):
        memory, stream = self._memory, stream or current_stream()
        number = memory.record()
        if stream is None:
            memory.complete(number)
        else:
            stream.submit(lambda: memory.complete(number))

    def wait(self, stream=None):
        memory, stream = self._memory, stream or current_stream()
        number = memory.recorded()
        if stream is not None:
            stream.submit(lambda: _wait_until(memory, number))

    def query(self):
        return self._memory.completed() >= self._memory.recorded()

    def synchronize(self):
        _wait_until(self._memory, self._memory.recorded())


def _wait_until(memory, number):
    while memory.completed() < number:
        time.sleep(_POLL_S)


class _Cudart:
    """Pinning of host memory: there is nothing to pin for."""

    def cudaHostRegister(self, pointer, size, flags):
        return 0

    def cudaHostUnregister(self, pointer):
        return 0


class Backend:
    """What LMCache calls `torch_dev`: the part of torch.cuda's interface that it uses."""

    Stream = Stream
    Event = Event

    def init(self):
        pass

    def is_available(self):
        return False  # no CUDA allocator, no pinned tensors: memory is the host's

    def device_count(self):
        return 1

    def current_device(self):
        return 0

    def current_stream(self, device=None):
        return current_stream()

    def empty_cache(self):
        pass

    def synchronize(self, device=None):
        for stream in list(_streams.values()):
            stream.synchronize()

    def cudart(self):
        return _Cudart()

    @contextlib.contextmanager
    def device(self, device):
        yield

    @contextlib.contextmanager
    def stream(self, stream):
        before = current_stream()
        _thread_state.stream = stream
        try:
            yield
        finally:
            _thread_state.stream = before
