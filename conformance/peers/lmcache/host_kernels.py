# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Host device, kernels: what LMCache's CUDA extension does, on host memory.

Pointers are real addresses of mapped shared memory and of LMCache's own buffers. Like a kernel, a
copy reads its block ids when the stream gets there, and its arguments are checked when it is
launched. Unlike a GPU, a block id outside the buffer touches no foreign memory: it is reported, and
that block is left as it is.
"""

import ctypes

import numpy

import host_device


def _view(address, shape, strides, element_size):
    """A numpy view of memory at `address`; strides in elements. Elements are opaque: dtype is a size."""
    extent = 1 + sum((n - 1) * stride for n, stride in zip(shape, strides))
    memory = (ctypes.c_char * (extent * element_size)).from_address(address)
    strides_bytes = tuple(stride * element_size for stride in strides)
    return numpy.ndarray(shape, f"u{element_size}", memory, 0, strides_bytes)


def _layer_strides(desc, format_name):
    """Strides of one layer's [kv, block, slot, head, element], and from layer to layer if one buffer
    holds them all (else 0)."""
    row, block = desc.nh * desc.hs, desc.bs * desc.nh * desc.hs
    # The last letters of a format's name give the order inside of a block.
    if format_name.endswith("NH_BS_HS"):
        slot, head = desc.hs, desc.bs * desc.hs
    else:
        slot, head = row, desc.hs
    if format_name.startswith("NL_X_TWO_NB"):
        return (desc.nb * block, block, slot, head, 1), 0
    if format_name.startswith("NL_X_NB_TWO"):
        return (block, 2 * block, slot, head, 1), 0
    if format_name.startswith("NB_NL_TWO"):
        return (block, desc.nl * 2 * block, slot, head, 1), 2 * block
    if format_name == "NL_X_NB_BS_HS":
        return (0, desc.block_stride_elems or block, slot, head, 1), 0
    raise RuntimeError(f"no such layout on the host device: {format_name}")


def make_multi_layer_block_kv_transfer(device_to_host):
    """The transfer between paged layers and objects [kv, layer, slot, head * element], for the
    extension's own TransferDirection.D2H."""

    def transfer(
        layer_pointers,
        object_pointers,
        block_ids,
        device,
        direction,
        desc,
        chunk_slots,
        kv_format,
        skip_blocks,
    ):
        num_objects = len(object_pointers)
        if len(block_ids) % num_objects != 0:
            raise RuntimeError(
                f"block_ids length ({len(block_ids)}) must be divisible by "
                f"num_objects ({num_objects})"
            )
        per_object = len(block_ids) // num_objects
        if per_object * desc.bs != chunk_slots:
            raise RuntimeError(
                f"blocks_per_object * block_size ({per_object * desc.bs}) must equal "
                f"lmcache_chunk_size ({chunk_slots})"
            )
        strides, layer_stride = _layer_strides(desc, kv_format.name)
        shape = (desc.kv_size, desc.nb, desc.bs, desc.nh, desc.hs)
        bases = [int(pointer) for pointer in layer_pointers]
        if len(bases) == 1:
            step = layer_stride * desc.element_size
            bases = [bases[0] + layer * step for layer in range(desc.nl)]
        layers = [_view(base, shape, strides, desc.element_size) for base in bases]

        slot_size = desc.nh * desc.hs
        object_shape = (desc.kv_size, desc.nl, per_object, desc.bs, desc.nh, desc.hs)
        object_strides = (
            desc.nl * chunk_slots * slot_size,
            chunk_slots * slot_size,
            desc.bs * slot_size,
            slot_size,
            desc.hs,
            1,
        )
        objects = [
            _view(pointer, object_shape, object_strides, desc.element_size)
            for pointer in object_pointers
        ]
        to_host = direction == device_to_host

        def run():
            ids = block_ids.numpy().copy()
            inside = (ids >= 0) & (ids < desc.nb)
            inside_or_skipped = inside.copy()
            inside_or_skipped[:skip_blocks] = True
            inside[:skip_blocks] = False
            for number, content in enumerate(objects):
                part = slice(number * per_object, (number + 1) * per_object)
                (places,) = numpy.nonzero(inside[part])
                blocks = ids[part][places]
                for index, layer in enumerate(layers):
                    if to_host:
                        content[:, index, places] = layer[:, blocks]
                    else:
                        layer[:, blocks] = content[:, index, places]
            if not inside_or_skipped.all():
                raise RuntimeError(
                    f"illegal memory access: block ids {ids[~inside_or_skipped].tolist()} "
                    f"of a buffer of {desc.nb} blocks"
                )

        host_device.current_stream().submit(run)

    return transfer


def memcpy_async(destination, source, num_bytes, direction, buffer_offset, buffer_alignment):
    """Copies between two addresses, in the current stream's order."""
    host_device.current_stream().submit(
        lambda: ctypes.memmove(destination, source, num_bytes)
    )
