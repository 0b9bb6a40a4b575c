# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""The host device in LMCache 0.4.2, the last release with a V1 blend server. See host_patch.py.

That release asks torch.cuda itself for streams and events, and imports its CUDA extension only where
CUDA is. What is replaced besides host_patch.py's own:

    torch.cuda: the functions of host_device.Backend     streams, events, pinning
    lmc_ops of gpu_ops                                   the copy function of blend

STORE and RETRIEVE of paged buffers use another kernel than 0.4.5's, and it is not played: their
copies fail. Blend's buffer has no pages.
"""

import enum
import types

import torch


class _TransferDirection(enum.Enum):
    H2D = 0
    D2H = 1


class _Device:
    """torch.cuda.device: a class there, and annotations say so."""

    def __init__(self, device):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def patch(backend, memcpy_async):
    for name in dir(backend):
        if not name.startswith("_"):
            setattr(torch.cuda, name, getattr(backend, name))
    torch.cuda.device = _Device

    from lmcache.v1.gpu_connector import gpu_ops

    gpu_ops.lmc_ops = types.SimpleNamespace(
        lmcache_memcpy_async=memcpy_async, TransferDirection=_TransferDirection
    )
