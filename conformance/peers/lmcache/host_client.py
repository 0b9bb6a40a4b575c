# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""An inference engine, played with LMCache's own client on the host device.

MessageQueueClient, the key, the wrappers and their pickles, the futures and the encoders are the
package's own. Only the tensors live in shared memory instead of a GPU's.
"""

import functools
import itertools

import host_patch  # noqa: F401  (first: puts the host device in place)

import host_memory
import torch
import zmq
from lmcache import torch_dev
from lmcache.utils import EngineType
from lmcache.v1.gpu_connector.utils import attempt_permute_to_contiguous_view
from lmcache.v1.multiprocess.custom_types import (
    CudaIPCWrapper,
    IPCCacheEngineKey,
    RawCudaIPCWrapper,
)
from lmcache.v1.multiprocess.mq import MessageQueueClient
from lmcache.v1.multiprocess.protocol import RequestType, get_response_class

TIMEOUT_S = 10
_DEVICE_UUID = "HOST-kvconform"
_numbers = itertools.count(1)


def shared_tensor(shape, dtype, stride0=None):
    """(tensor, shm name) in shared memory of its own, all zero; `stride0` pads dimension 0."""
    tight = torch.Size(shape[1:]).numel()
    stride0 = stride0 or tight
    name, mapping = host_memory.create(max(1, shape[0] * stride0 * dtype.itemsize))
    elements = torch.frombuffer(mapping, dtype=torch.uint8).view(dtype)
    strides = [stride0, *torch.empty(shape, device="meta").stride()[1:]]
    return elements.as_strided(shape, strides), name


def _wrap(wrapper_class, tensor):
    wrapper = wrapper_class.__new__(wrapper_class)  # __init__ asks CUDA for a handle
    wrapper.dtype = tensor.dtype
    wrapper.shape = tuple(tensor.shape)
    wrapper.stride = tuple(tensor.stride())
    wrapper.storage_offset = int(tensor.storage_offset())
    wrapper.device_uuid = _DEVICE_UUID
    return wrapper


def wrap(tensor, name):
    """What CudaIPCWrapper(tensor) makes on a GPU: torch's 8-tuple around the handle."""
    tensor = attempt_permute_to_contiguous_view(tensor)
    wrapper = _wrap(CudaIPCWrapper, tensor)
    handle = b"\x02c" + host_memory.pack_handle(host_memory.MEMORY_TAG, name)
    size_bytes = tensor.untyped_storage().nbytes()
    wrapper.handle = (0, handle, size_bytes, 0, b"\0" * 64, 0, b"\0" * 64, False)
    return wrapper


def wrap_raw(tensor, name):
    """What RawCudaIPCWrapper(tensor) makes: the bare handle."""
    wrapper = _wrap(RawCudaIPCWrapper, tensor)
    wrapper.handle = None
    wrapper._ipc_handle_reserved = host_memory.pack_handle(host_memory.MEMORY_TAG, name)
    wrapper._nbytes = tensor.untyped_storage().nbytes()
    return wrapper


@functools.cache
def client_of(endpoint):
    """One client for all engines of this process: closing one takes it a second."""
    return MessageQueueClient(endpoint, zmq.Context.instance())


class Engine:
    """One engine: an instance id, a model, and paged buffers."""

    def __init__(self, endpoint, wrappers=(), engine_type=EngineType.VLLM, hints=None):
        number = next(_numbers)
        self.instance_id = 1000 + number
        self.model = f"python-client-{number}"
        self.wrappers = list(wrappers)
        self.engine_type = engine_type
        self.hints = hints or {}
        self._client = client_of(endpoint)

    def submit(self, request_type, *payloads):
        return self._client.submit_request(
            request_type, list(payloads), get_response_class(request_type)
        )

    def call(self, request_type, *payloads):
        return self.submit(request_type, *payloads).result(timeout=TIMEOUT_S)

    def register(self):
        return self.call(
            RequestType.REGISTER_KV_CACHE,
            self.instance_id,
            self.wrappers,
            self.model,
            1,
            self.engine_type,
            self.hints,
        )

    def key(self, tokens, start, end, request_id, worker_id=0, cache_salt=""):
        return IPCCacheEngineKey(
            model_name=self.model,
            world_size=1,
            worker_id=worker_id,
            token_ids=tuple(tokens),
            start=start,
            end=end,
            request_id=request_id,
            cache_salt=cache_salt,
        )

    def _transfer(self, request_type, key, blocks, *more):
        event = torch_dev.Event(interprocess=True)
        event.record()
        future = self.submit(
            request_type, key, self.instance_id, list(blocks), event.ipc_handle(), *more
        ).to_cuda_future(0)
        if not future.wait(timeout=TIMEOUT_S):
            raise TimeoutError(f"{request_type.name} was not answered in {TIMEOUT_S} s")
        return future.result(timeout=TIMEOUT_S)

    def store(self, key, blocks):
        """True or False, when the returned event is complete."""
        return self._transfer(RequestType.STORE, key, blocks)

    def retrieve(self, key, blocks, skip_tokens=0):
        return self._transfer(RequestType.RETRIEVE, key, blocks, skip_tokens)

    def lookup(self, key, tp_size=1):
        """Chunks found and locked: LOOKUP, then QUERY_PREFETCH_STATUS until it says a number."""
        self.call(RequestType.LOOKUP, key.no_worker_id_version(), tp_size)
        while (found := self.call(RequestType.QUERY_PREFETCH_STATUS, key.request_id)) is None:
            pass
        return found

    def free(self, key, tp_size=1):
        return self.call(RequestType.FREE_LOOKUP_LOCKS, key.no_worker_id_version(), tp_size)

    def end(self, request_id):
        return self.call(RequestType.END_SESSION, request_id)
