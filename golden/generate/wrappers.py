# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Wrappers: CudaIPCWrapper and RawCudaIPCWrapper as the real classes build them, attribute by
attribute in the order of their __init__, but without a GPU to share a tensor of."""

import real

UUID = "GPU-6b2c5bd2-0000-4000-8000-00000000002a"


def handle_64(fill=0):
    """64 bytes that look like a cudaIpcMemHandle_t: no two alike, no text in them."""
    return bytes((i * 7 + fill * 31 + 1) % 256 for i in range(64))


def handle_66(version=1, kind=b"c", fill=0):
    return bytes([version]) + kind + handle_64(fill)


def torch_handle(device=0, memory=None, size=1 << 20, offset=0, event_sync=True):
    """The 8-tuple of UntypedStorage._share_cuda_()."""
    memory = handle_66() if memory is None else memory
    return (device, memory, size, offset, b"torch_1_2", 0, handle_64(9), event_sync)


def strides(shape):
    out, step = [], 1
    for size in reversed(shape):
        out.append(step)
        step *= size
    return tuple(reversed(out))


def wrapper(
    handle=None, dtype="bfloat16", shape=(2, 4, 16, 2, 8), stride=None, storage_offset=0, uuid=UUID
):
    made = real.Wrapper.__new__(real.Wrapper)
    made.handle = torch_handle() if handle is None else handle
    made.dtype = getattr(real.torch, dtype)
    made.shape = tuple(shape)
    made.stride = strides(shape) if stride is None else tuple(stride)
    made.storage_offset = storage_offset
    made.device_uuid = uuid
    return made


def raw_wrapper(
    memory=None,
    nbytes=1 << 20,
    dtype="bfloat16",
    shape=(64, 2, 2, 256),
    stride=None,
    storage_offset=0,
    uuid=UUID,
):
    made = real.RawWrapper.__new__(real.RawWrapper)
    made._ipc_handle_reserved = handle_64() if memory is None else memory
    made._nbytes = nbytes
    made.handle = None
    made.dtype = getattr(real.torch, dtype)
    made.shape = tuple(shape)
    made.stride = strides(shape) if stride is None else tuple(stride)
    made.storage_offset = storage_offset
    made.device_uuid = uuid
    return made
