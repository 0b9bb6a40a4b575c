// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Geometry: what the tensors of a played engine look like, and where each element of each block
// lies in them. Written apart from kvc/device/layout.h on purpose: a referee that judged with the
// reference's own arithmetic would share its mistakes. Plain arithmetic; owns no device memory.
//
// A block's content is the same bytes in every layout: [layer][kv][slot][head][element].
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kvc/device/layout.h"
#include "kvc/protocol/bytes.h"

namespace kvc::conformance {

// One layer that differs from the others. Sizes in elements.
struct LayerShape {
  std::string dtype = "bfloat16";
  std::size_t block_size = 16;  // slots of a block
  std::size_t num_heads = 2;
  std::size_t head_size = 8;
  std::size_t dim0_padding = 0;  // elements after each block (MLA only)
};

// How the played engine's buffers look. Sizes in elements.
struct EngineShape {
  KvFormat format = KvFormat::kNlXTwoNbBsNhHs;
  std::string dtype = "bfloat16";
  std::size_t num_layers = 2;
  std::size_t num_blocks = 64;
  std::size_t block_size = 16;  // slots of a block
  std::size_t num_heads = 2;
  std::size_t head_size = 8;
  std::size_t dim0_padding = 0;          // elements after each block (MLA only)
  bool raw_wrapper = false;              // RawCudaIPCWrapper instead of CudaIPCWrapper
  bool permuted_view = false;            // HND memory shown as an NHD view by strides, as vLLM does
  bool one_storage = false;              // all tensors in one allocation, one behind the other
  std::size_t storage_offset = 0;        // elements before each tensor's first one
  std::vector<LayerShape> mixed_layers;  // when not empty: the layers, instead of the fields above
  std::optional<std::size_t> logical_block_size;  // hint: tokens of an engine block
};

// A tensor as it is registered, and the memory behind it.
struct TensorPlan {
  std::string dtype;
  std::size_t element_size = 0;      // bytes
  std::vector<std::int64_t> shape;   // elements, as shown to the server
  std::vector<std::int64_t> stride;  // elements
  std::size_t storage_offset = 0;    // elements
  std::size_t size_bytes = 0;        // of the tensor's memory, padding and offset included
};

// A row is one head of one slot: contiguous in every layout.
struct RowPlace {
  std::size_t layer, kv, slot, head;
  std::size_t tensor;  // index of the tensor
  std::size_t offset;  // bytes from the start of that tensor's memory
  std::size_t size;    // bytes
  std::size_t element_size;
};

// The bytes of every tensor's memory, in order.
using MemoryImage = std::vector<Bytes>;

class Geometry {
 public:
  explicit Geometry(const EngineShape& shape);

  const std::vector<TensorPlan>& tensors() const { return tensors_; }
  std::size_t num_blocks() const { return num_blocks_; }
  std::size_t tokens_per_block() const { return tokens_per_block_; }
  std::size_t block_bytes() const { return block_bytes_; }  // of a block's content

  // Visits the rows of a block in the order of its content. REQUIRES: block < num_blocks().
  void for_each_row(std::size_t block, const std::function<void(const RowPlace&)>& visit) const;

  // In words: "layer 1, kv 0, slot 3, head 1, element 5", for byte `at` of a block's content.
  std::string place_in_words(std::size_t at) const;

 private:
  struct Layer {
    std::size_t tensor, base;  // base: elements from the tensor's start
    std::size_t kv_size, block_size, num_heads, head_size, element_size;
    std::size_t kv_stride, block_stride, slot_stride, head_stride;  // elements
  };
  void add_layer_tensor(const EngineShape& shape, const LayerShape& layer);
  void add_pool_tensor(const EngineShape& shape);

  std::vector<TensorPlan> tensors_;
  std::vector<Layer> layers_;
  std::size_t num_blocks_ = 0, tokens_per_block_ = 0, block_bytes_ = 0;
};

// The bytes of one row: a hash of (seed, layer, kv, slot, head, element), so that no two elements
// of a test agree but by chance.
void write_pattern(std::uint64_t seed, const RowPlace& row, std::uint8_t* out);

// A block's content when it is filled with the pattern of `seed`.
Bytes pattern_content(const Geometry& geometry, std::uint64_t seed);

Bytes block_content(const Geometry& geometry, const MemoryImage& image, std::size_t block);
void put_block(const Geometry& geometry, MemoryImage& image, std::size_t block,
               const Bytes& content);

}  // namespace kvc::conformance
