# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Puts the host device into LMCache in place of CUDA. Import it before anything of lmcache.

What is replaced in 0.4.5, and nothing else (0.4.2: see host_patch_0_4_2.py):
    lmcache.torch_dev                          streams, events                   host_device.py
    cupy.cuda.ExternalStream                   host functions on a stream        host_device.py
    lmcache.c_ops: two copy functions          the CUDA extension                host_kernels.py
    CudaIPCWrapper and RawCudaIPCWrapper       to_tensor and the device's UUID   below
    torch.Tensor.copy_(non_blocking=True)      runs on the current stream        below
    GPUCacheContext, PlainGPUCacheContext      memory outlives work in flight    below
"""

import os

# Before torch is imported: there is no GPU to look for.
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import cupy
import lmcache
import torch

import host_device
import host_kernels
import host_memory

cupy.cuda.ExternalStream = host_device.ExternalStream
if hasattr(lmcache, "torch_dev"):
    lmcache.torch_dev = host_device.Backend()

    import lmcache.c_ops as extension  # after torch_dev

    extension.multi_layer_block_kv_transfer = host_kernels.make_multi_layer_block_kv_transfer(
        extension.TransferDirection.D2H
    )
    extension.lmcache_memcpy_async = host_kernels.memcpy_async
else:
    import host_patch_0_4_2

    host_patch_0_4_2.patch(host_device.Backend(), host_kernels.memcpy_async)

from lmcache.v1.multiprocess import custom_types  # noqa: E402  (after the device)

CudaIPCWrapper = custom_types.CudaIPCWrapper

_TORCH_HANDLE_VERSIONS = (1, 2, 3)


def _device_index(device_uuid):
    if not device_uuid.startswith("HOST-"):
        raise RuntimeError(f"Device UUID {device_uuid} not found in the discovered devices.")
    return 0


def _storage(handle, size_bytes, offset_bytes):
    """Bytes of another process's storage as a tensor of uint8; it holds the mapping."""
    mapping = host_memory.open_existing(
        host_memory.unpack_handle(host_memory.MEMORY_TAG, handle)
    )
    if offset_bytes < 0 or size_bytes < 0 or offset_bytes + size_bytes > len(mapping):
        raise RuntimeError(
            f"storage [{offset_bytes}, {offset_bytes + size_bytes}) is not within "
            f"the {len(mapping)} bytes of its allocation"
        )
    return torch.frombuffer(mapping, dtype=torch.uint8, count=size_bytes, offset=offset_bytes)


def _torch_to_tensor(wrapper):
    """A tensor shared by torch: torch's 8-tuple in front of shape and stride."""
    CudaIPCWrapper._get_device_index_from_uuid(wrapper.device_uuid)
    _, handle, size_bytes, offset_bytes, *_ = wrapper.handle
    if len(handle) != host_memory.HANDLE_BYTES:
        version, kind, handle = handle[0], handle[1:2], handle[2:]
        if version not in _TORCH_HANDLE_VERSIONS or kind != b"c":
            raise RuntimeError(f"cannot open a torch handle of version {version}, type {kind!r}")
    elements = _storage(handle, size_bytes, offset_bytes).view(wrapper.dtype)
    return torch.as_strided(elements, wrapper.shape, wrapper.stride, wrapper.storage_offset)


def _raw_to_tensor(wrapper):
    """A bare allocation: contiguous, whole."""
    CudaIPCWrapper._get_device_index_from_uuid(wrapper.device_uuid)
    elements = _storage(wrapper._ipc_handle_reserved, wrapper._nbytes, 0).view(wrapper.dtype)
    return elements.reshape(wrapper.shape)


CudaIPCWrapper._get_device_index_from_uuid = staticmethod(_device_index)
CudaIPCWrapper.to_tensor = _torch_to_tensor
if hasattr(custom_types, "RawCudaIPCWrapper"):
    custom_types.RawCudaIPCWrapper.to_tensor = _raw_to_tensor

_copy = torch.Tensor.copy_


def _copy_on_stream(self, source, non_blocking=False):
    stream = host_device.current_stream()
    if non_blocking and stream is not None:
        source = source.expand_as(self)  # as torch: what does not fit raises here, not there
        stream.submit(lambda: _copy(self, source))
        return self
    return _copy(self, source)


torch.Tensor.copy_ = _copy_on_stream


def _keep_until_done(stream_name):
    """A __del__ that hands the context's memory to its stream: freed once the work before is done,
    as freeing device memory waits for the work that uses it."""

    def on_delete(context):
        stream = context.__dict__.get(stream_name)
        if stream is not None:  # absent when the constructor raised
            kept = dict(context.__dict__)
            stream.submit(lambda: kept.clear())

    return on_delete


def patch_server():
    """What only a server needs; imports its modules."""
    from lmcache.v1.multiprocess import gpu_context

    gpu_context.GPUCacheContext.__del__ = _keep_until_done("cuda_stream_")
    gpu_context.PlainGPUCacheContext.__del__ = _keep_until_done("_cuda_stream")
