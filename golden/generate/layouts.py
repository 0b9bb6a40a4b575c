# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
"""Ask the real LMCache 0.4.5 which layout it finds in an engine's tensors, and write layouts.json.

Run it with a python that has lmcache==0.4.5 and torch; no GPU is needed:
    python golden/generate/layouts.py golden/0.4.5/layouts.json

Each case holds tensors as they cross the wire, the engine, the hints and the chunk size, and `real`:
what LMCache answered, {"refused": why} or the layout. `faulty` says why the reference refuses what
LMCache accepts; there are no cases the other way round. `right` holds what the reference answers
differently.
"""
import json
import logging
import sys

import torch

from lmcache.utils import EngineType
from lmcache.v1.gpu_connector import utils
from lmcache.v1.kv_layer_groups import KVLayerGroupsManager

logging.disable(logging.CRITICAL)

TORCH = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32,
         "uint8": torch.uint8, "float8_e4m3fn": torch.float8_e4m3fn, "half": torch.half}


def contiguous(shape):
    stride, tight = [], 1
    for size in reversed(shape):
        stride.insert(0, tight)
        tight *= max(size, 1)
    return stride


def tensor(shape, dtype="bfloat16", stride=None, offset=0):
    stride = contiguous(shape) if stride is None else stride
    elements = offset + 1 + sum((n - 1) * s for n, s in zip(shape, stride)) if all(shape) else offset
    return {"dtype": dtype, "shape": shape, "stride": stride, "storage_offset": offset,
            "storage_elements": max(elements, 1)}


def view(shape, order, **rest):
    """A contiguous tensor of `shape`, shown with its dimensions in another order."""
    stride = contiguous(shape)
    return tensor([shape[i] for i in order], stride=[stride[i] for i in order], **rest)


def ask(case):
    hints = dict(case["hints"])
    try:
        caches = []
        for t in case["tensors"]:
            storage = torch.zeros(t["storage_elements"], dtype=TORCH[t["dtype"]])
            caches.append(torch.as_strided(storage, t["shape"], t["stride"], t["storage_offset"]))
        fmt, caches = utils.normalize_kv_and_discover_format(
            caches, EngineType(case["engine"]), layout_hints=hints)
        num_blocks = utils.get_num_blocks(caches, fmt)
        manager = KVLayerGroupsManager(caches, gpu_kv_format=fmt, num_blocks=num_blocks,
                                       layout_hints=hints,
                                       lmcache_logical_chunk_size=case["chunk_size"])
        utils.get_concrete_gpu_kv_shape(caches, fmt)
        groups, offset = [], 0
        for g in manager.kv_layer_groups:
            sd = g.shape_desc
            shape = torch.Size((sd.kv_size, len(g.layer_indices),
                                case["chunk_size"] // g.compress_ratio, g.hidden_dim_size))
            size = shape.numel() * g.dtype.itemsize
            groups.append({"layers": list(g.layer_indices), "kv_size": sd.kv_size,
                           "num_heads": sd.nh, "head_size": sd.hs, "block_size": sd.bs,
                           "element_size": sd.element_size, "dtype": str(g.dtype).split(".")[1],
                           "compress_ratio": g.compress_ratio,
                           "slots_per_chunk": g.physical_chunk_size,
                           "object_offset_bytes": offset, "object_bytes": size})
            offset += size
        return {"format": fmt.name, "num_layers": utils.get_num_layers(caches, fmt),
                "num_blocks": num_blocks,
                "tokens_per_block": manager.inference_engine_logical_block_size,
                "chunk_bytes": offset, "groups": groups}
    except Exception as error:  # whatever it raises, the handler raises and nobody is answered
        return {"refused": f"{type(error).__name__}: {error}"[:200]}


CASES = []


def case(name, tensors, engine="vllm", hints=None, chunk_size=256, faulty=None, right=None):
    c = {"name": name, "tensors": tensors, "engine": engine, "hints": hints or {},
         "chunk_size": chunk_size}
    c["real"] = ask(c)
    if faulty is not None:
        c["faulty"] = faulty
    if right is not None:
        c["right"] = right
    if (faulty is not None) and "refused" in c["real"]:
        sys.exit(f"{name}: marked faulty, but LMCache refuses it too")
    CASES.append(c)


HND = {"kv_layout": "HND"}
NHD = {"kv_layout": "NHD"}
POOL = {"num_kv_heads": 4, "tokens_per_block": 16, "head_dim": 8}

# The six layouts.
case("two-nb nhd", [tensor([2, 10, 16, 4, 8])] * 3, hints=NHD)
case("two-nb without a hint is nhd", [tensor([2, 10, 16, 4, 8])] * 3)
case("two-nb hnd", [tensor([2, 10, 4, 16, 8])] * 3, hints=HND)
case("nb-two nhd", [tensor([10, 2, 16, 4, 8])] * 3, hints=NHD)
case("nb-two hnd", [tensor([10, 2, 4, 16, 8])] * 3, hints=HND)
case("mla", [tensor([10, 16, 72])] * 3)
case("mla with an hnd hint", [tensor([10, 16, 72])] * 3, hints=HND)
case("trtllm pool", [tensor([10, 3, 2, 4 * 16 * 8])], engine="trtllm", hints=POOL)
case("trtllm pool already of six dimensions", [tensor([10, 3, 2, 4, 16, 8])], engine="trtllm")
case("two blocks: the first dimension decides", [tensor([2, 2, 16, 4, 8])])
case("heads equal block size", [tensor([2, 10, 16, 16, 8])], hints=HND)

# Views by strides.
case("hnd memory as an nhd view", [view([2, 10, 4, 16, 8], [0, 1, 3, 2, 4])] * 2, hints=HND)
case("hnd memory as an nhd view without a hint", [view([2, 10, 4, 16, 8], [0, 1, 3, 2, 4])] * 2)
case("nb-two memory as a two-nb view", [view([10, 2, 16, 4, 8], [1, 0, 2, 3, 4])] * 2)
case("nb-two hnd memory as a two-nb nhd view", [view([10, 2, 4, 16, 8], [1, 0, 3, 2, 4])], hints=HND)
case("mla transposed", [view([10, 16, 72], [0, 2, 1])])
case("trtllm pool transposed", [view([10, 3, 2, 512], [1, 0, 2, 3])], engine="trtllm", hints=POOL)
case("one head keeps its view", [view([2, 10, 1, 16, 8], [0, 1, 3, 2, 4])], hints=HND)
case("contiguous with an offset", [tensor([2, 10, 16, 4, 8], offset=64)])
case("permuted with an offset", [view([2, 10, 4, 16, 8], [0, 1, 3, 2, 4], offset=8)], hints=HND)

# Padding.
case("mla padded", [tensor([10, 16, 72], stride=[16 * 72 + 40, 72, 1])] * 2)
case("mla padded and transposed", [tensor([10, 72, 16], stride=[2000, 1, 72])])
case("mla padded with an offset", [tensor([10, 16, 72], stride=[1192, 72, 1], offset=72)])
case("mla overlapping blocks", [tensor([10, 16, 72], stride=[72, 72, 1])])
case("mla same memory for all blocks", [tensor([10, 16, 72], stride=[0, 72, 1])])
case("mla padded slots", [tensor([10, 16, 72], stride=[16 * 80, 80, 1])])
case("mla inner stride 2", [tensor([10, 16, 72], stride=[16 * 144, 144, 2])])
case("mla one block, any stride", [tensor([1, 16, 72], stride=[7, 72, 1])])
case("nb-two padded", [tensor([10, 2, 16, 4, 8], stride=[1100, 512, 32, 8, 1])])
case("nb-two padded between k and v", [tensor([10, 2, 16, 4, 8], stride=[1200, 600, 32, 8, 1])])
case("nb-two one block, padded", [tensor([1, 2, 16, 4, 8], stride=[1100, 512, 32, 8, 1])])
case("two-nb padded", [tensor([2, 10, 16, 4, 8], stride=[6000, 512, 32, 8, 1])])
case("two-nb one block, any stride", [tensor([2, 1, 16, 4, 8], stride=[512, 9999, 32, 8, 1])])
case("trtllm padded", [tensor([10, 3, 2, 512], stride=[3200, 1024, 512, 1])], engine="trtllm",
     hints=POOL)
case("trtllm one block, padded", [tensor([1, 3, 2, 512], stride=[3200, 1024, 512, 1])],
     engine="trtllm", hints=POOL)
case("vector with gaps", [tensor([10], stride=[2])])

# Groups.
A, B = [2, 10, 16, 4, 8], [2, 10, 16, 2, 8]
case("two groups by heads, interleaved", [tensor(A), tensor(B), tensor(A), tensor(B)])
case("two groups by head size", [tensor(A), tensor([2, 10, 16, 4, 16])])
case("two groups by dtype of one size", [tensor(A), tensor(A, dtype="float16")])
case("one dtype by two names", [tensor(A, dtype="half"), tensor(A, dtype="float16")])
case("uint8", [tensor(A, dtype="uint8")])
case("float32", [tensor(A, dtype="float32")])
case("float8", [tensor(A, dtype="float8_e4m3fn")])
case("the second layer comes first", [tensor(B), tensor(A), tensor(A)])

# Compression.
L64 = {"inference_engine_logical_block_size": 64}
case("compressed", [tensor([10, 64, 72]), tensor([10, 16, 72]), tensor([10, 1, 40])], hints=L64)
case("compressed and padded", [tensor([10, 64, 72]), tensor([10, 2, 72], stride=[4608, 72, 1])],
     hints=L64)
case("all compressed", [tensor([10, 16, 72])] * 2, hints=L64)
case("hint equal to the block", [tensor([2, 10, 16, 4, 8])],
     hints={"inference_engine_logical_block_size": 16})
case("trtllm compressed", [tensor([10, 3, 2, 512])], engine="trtllm", hints={**POOL, **L64})
case("hint that the block does not divide", [tensor([10, 48, 72])], hints=L64)
case("hint smaller than the block", [tensor([10, 128, 72])], hints=L64)
case("hint zero", [tensor([10, 16, 72])], hints={"inference_engine_logical_block_size": 0})
case("hint negative", [tensor([10, 16, 72])], hints={"inference_engine_logical_block_size": -16},
     faulty="chunks of a negative size")
case("ratio that does not divide the chunk", [tensor([10, 16, 72])], chunk_size=32,
     hints={"inference_engine_logical_block_size": 48})

# Refused there, and here.
case("no tensors", [])
case("mock", [tensor(A)], engine="mock")
case("sglang mla", [tensor([160, 1, 72])], engine="sglang")
case("sglang mha", [tensor([160, 4, 8])], engine="sglang")
case("rank 4", [tensor([10, 16, 4, 8])])
case("rank 2", [tensor([10, 16])])
case("rank 6", [tensor([10, 3, 2, 16, 4, 8])])
case("neither dimension is two", [tensor([3, 10, 16, 4, 8])])
case("trtllm without hints", [tensor([10, 3, 2, 512])], engine="trtllm")
case("trtllm hints that do not multiply out", [tensor([10, 3, 2, 500])], engine="trtllm", hints=POOL)
case("trtllm two tensors", [tensor([10, 3, 2, 512])] * 2, engine="trtllm", hints=POOL)
case("trtllm rank 5", [tensor([10, 2, 16, 4, 8])], engine="trtllm", hints=POOL)
case("later layer of another rank", [tensor(A), tensor([10, 16, 72])])

# Accepted there, though it cannot be served.
case("block does not divide the chunk", [tensor([10, 48, 72])],
     faulty="every STORE fails: chunk 256 is not whole blocks of 48")
case("block larger than the chunk", [tensor([10, 16, 72])], chunk_size=8,
     faulty="every STORE fails: a block is more than a chunk")
case("hint does not divide the chunk", [tensor([10, 96, 72])],
     hints={"inference_engine_logical_block_size": 96},
     faulty="every STORE fails: chunk 256 is not whole blocks of 96")
case("two block sizes without a hint", [tensor([10, 16, 72]), tensor([10, 32, 72])],
     faulty="every STORE fails: block ids count blocks of the first size")
case("later layer with k and v elsewhere", [tensor(A), tensor([10, 2, 16, 4, 8])],
     faulty="the second layer is read as [2, NB, …] and its blocks past 1 are foreign memory")
case("later layer of the group padded",
     [tensor([10, 2, 16, 4, 8]), tensor([10, 2, 16, 4, 8], stride=[1100, 512, 32, 8, 1])],
     faulty="only the group's first layer is checked; the others are read with its strides")
case("trtllm pool with three of two", [tensor([10, 3, 3, 512])], engine="trtllm", hints=POOL,
     faulty="the kernels take the third dimension for 2")
case("no blocks", [tensor([2, 0, 16, 4, 8])])
case("mla without blocks", [tensor([0, 16, 72])], faulty="nothing can be stored")

# Layers with different numbers of blocks: the first layer's number is believed there, and blocks 6 to
# 9 of the second layer are foreign memory.
case("later layer has fewer blocks", [tensor([10, 16, 72]), tensor([6, 16, 72])],
     right={"num_blocks": 6})

with open(sys.argv[1], "w", encoding="utf-8") as out:
    lines = (json.dumps(c, separators=(",", ":"), ensure_ascii=False) for c in CASES)
    out.write("[\n" + ",\n".join(lines) + "\n]\n")
