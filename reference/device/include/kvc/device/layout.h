// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Layout: where each token of each paged block lies in an engine's tensors, and where it goes in a
// chunk object. Pure arithmetic, shared by the host device, CUDA and the referee; no memory is
// touched here. Pure functions: any thread. What is wrong with a peer's tensors is a Result.
//
// Letters: NL layers, NB blocks, BS slots of a block, NH heads, HS head size. A slot holds one
// token, or compress_ratio of them in a compressed layer group. A chunk object is, for each layer
// group in order, [kv, layer, slot, NH * HS] (kv = 2, 1 for MLA). Source of the rules: lmcache
// 0.4.5 gpu_connector/utils.py (normalize_kv_and_discover_format), kv_layer_groups.py
// (KVLayerGroupsManager), measured against it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvc/protocol/result.h"
#include "kvc/protocol/values.h"

namespace kvc {

enum class KvFormat {
  kNlXTwoNbBsNhHs,  // vllm NHD, per layer [2, NB, BS, NH, HS]
  kNlXTwoNbNhBsHs,  // vllm HND, per layer [2, NB, NH, BS, HS]
  kNlXNbTwoBsNhHs,  // vllm NHD, per layer [NB, 2, BS, NH, HS]
  kNlXNbTwoNhBsHs,  // vllm HND, per layer [NB, 2, NH, BS, HS]
  kNlXNbBsHs,       // vllm MLA, per layer [NB, BS, HS]; dim 0 may be padded
  kNbNlTwoNhBsHs,   // trtllm, one [NB, NL, 2, NH*BS*HS]
  kTwoNlTD,         // a blend buffer, one [2, NL, T, D]: each token is a block of one slot
};
std::string_view to_string(KvFormat format);  // "NL_X_TWO_NB_BS_NH_HS"

// Bytes of one element of a torch dtype, or 0 for a name that we do not know.
std::size_t dtype_size_bytes(std::string_view dtype);

// torch's name for a dtype that has several: "half" is "float16". Others come back as they are.
std::string_view canonical_dtype(std::string_view dtype);

// A tensor as registered: sizes in elements, within one opened buffer.
struct TensorDesc {
  std::string dtype;
  std::size_t element_size = 0;  // bytes
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> stride;
  std::int64_t storage_offset = 0;    // of element 0 in the storage, in elements
  std::size_t base_offset_bytes = 0;  // of element 0 in the buffer
  std::size_t available_bytes = 0;    // from base_offset_bytes to the storage's end
};

// tensor_desc reads shape, stride, dtype and offsets of a wire tensor, and checks that every
// element lies within the storage (and the storage within `buffer_bytes`). Overflow is an error,
// not a wrap. `path` says in errors which tensor it is: "$[3]".
Result<TensorDesc> tensor_desc(const IpcTensor& tensor, std::size_t buffer_bytes,
                               std::string_view path = "$");

// Layers that share (kv_size, heads, head_size, block_size, dtype).
struct LayerGroup {
  std::vector<std::size_t> layers;  // indices, ascending
  std::size_t kv_size = 2;          // 1 for MLA
  std::size_t num_heads = 1;
  std::size_t head_size = 0;     // elements
  std::size_t block_size = 0;    // slots of a block
  std::size_t element_size = 0;  // bytes
  std::string dtype;
  std::size_t compress_ratio = 1;       // tokens a slot
  std::size_t slots_per_chunk = 0;      // chunk_size / compress_ratio
  std::size_t object_offset_bytes = 0;  // of this group in a chunk object
  std::size_t object_bytes = 0;         // of this group in a chunk object

  std::size_t hidden_bytes() const { return num_heads * head_size * element_size; }
};

struct Layout {
  KvFormat format = KvFormat::kNlXTwoNbBsNhHs;
  std::vector<TensorDesc> tensors;  // after permuting to the physical order
  std::size_t num_layers = 0;
  std::size_t num_blocks = 0;        // block ids are 0 … num_blocks-1 (the least of all layers)
  std::size_t chunk_size = 0;        // tokens
  std::size_t tokens_per_block = 0;  // engine block: the hint, or the first group's block size
  std::size_t chunk_bytes = 0;       // of one chunk object, all groups
  std::vector<LayerGroup> groups;    // in the order of their first layer

  std::size_t blocks_per_chunk() const { return chunk_size / tokens_per_block; }
  // Equal for two registrations whose chunk objects can be exchanged.
  bool same_object_shape(const Layout& other) const;
};

// discover_layout answers the layout of a registration, or why there is none: what the real server
// refuses is refused, and also what it accepts and cannot serve: block sizes that do not divide
// chunk_size, layers that are not like the first, empty tensors. Paths: "$[3].shape[1]".
Result<Layout> discover_layout(std::vector<TensorDesc> tensors, EngineType engine,
                               const LayoutHints& hints, std::size_t chunk_size);

// blend_layout answers the layout of a blend buffer: exactly one tensor [2, NL, T, D], in the order
// of its dimensions, whatever its strides. Each of the T tokens is a block, so tokens
// [offset, offset + chunk_size) are a chunk's block ids. The object is [2, NL, chunk_size, D]: what
// paged blocks of one layer group make too.
Result<Layout> blend_layout(std::vector<TensorDesc> tensors, std::size_t chunk_size);

// A run of bytes that is contiguous on both sides.
struct Run {
  std::size_t tensor;         // index into Layout::tensors
  std::size_t tensor_offset;  // bytes from the start of that tensor's buffer (base_offset included)
  std::size_t object_offset;  // bytes from the start of the chunk object
  std::size_t size;           // bytes
};

// Calls `visit` for every run of the engine block `block_id`, which is block `index_in_chunk` of
// its chunk. The obvious nested loops: the meaning that every faster copy is tested against.
// REQUIRES: 0 <= block_id < num_blocks, index_in_chunk < blocks_per_chunk().
void for_each_run(const Layout& layout, std::int64_t block_id, std::size_t index_in_chunk,
                  const std::function<void(const Run&)>& visit);

}  // namespace kvc
