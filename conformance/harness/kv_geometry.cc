// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/kv_geometry.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kvc/protocol/assert.h"

namespace kvc::conformance {
namespace {

std::size_t element_size_of(const std::string& dtype) {
  if (dtype == "uint8" || dtype == "int8" || dtype.rfind("float8", 0) == 0) return 1;
  if (dtype == "bfloat16" || dtype == "float16" || dtype == "int16") return 2;
  if (dtype == "float32" || dtype == "int32") return 4;
  KVC_ASSERT(dtype == "float64" || dtype == "int64");
  return 8;
}

// Dimensions as they lie in memory, outermost first, each with what it counts.
enum class Dim { kKv, kBlock, kSlot, kHead, kElement };

std::vector<Dim> order_in_memory(KvFormat format) {
  switch (format) {
    case KvFormat::kNlXTwoNbBsNhHs:
      return {Dim::kKv, Dim::kBlock, Dim::kSlot, Dim::kHead, Dim::kElement};
    case KvFormat::kNlXTwoNbNhBsHs:
      return {Dim::kKv, Dim::kBlock, Dim::kHead, Dim::kSlot, Dim::kElement};
    case KvFormat::kNlXNbTwoBsNhHs:
      return {Dim::kBlock, Dim::kKv, Dim::kSlot, Dim::kHead, Dim::kElement};
    case KvFormat::kNlXNbTwoNhBsHs:
      return {Dim::kBlock, Dim::kKv, Dim::kHead, Dim::kSlot, Dim::kElement};
    case KvFormat::kNlXNbBsHs:
      return {Dim::kBlock, Dim::kSlot, Dim::kElement};
    case KvFormat::kNbNlTwoNhBsHs:
    case KvFormat::kTwoNlTD:  // a blend buffer: see blend_player.h
      break;
  }
  KVC_ASSERT(false);
}

// splitmix64's finaliser: every input bit moves every output bit.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

Geometry::Geometry(const EngineShape& shape) : num_blocks_(shape.num_blocks) {
  if (shape.format == KvFormat::kNbNlTwoNhBsHs) {
    add_pool_tensor(shape);
  } else if (shape.mixed_layers.empty()) {
    const LayerShape layer{shape.dtype, shape.block_size, shape.num_heads, shape.head_size,
                           shape.dim0_padding};
    for (std::size_t i = 0; i < shape.num_layers; ++i) add_layer_tensor(shape, layer);
  } else {
    for (const LayerShape& layer : shape.mixed_layers) add_layer_tensor(shape, layer);
  }
  KVC_ASSERT(!layers_.empty());
  tokens_per_block_ = shape.logical_block_size.value_or(layers_.front().block_size);
  for (const Layer& layer : layers_)
    block_bytes_ +=
        layer.kv_size * layer.block_size * layer.num_heads * layer.head_size * layer.element_size;
}

void Geometry::add_layer_tensor(const EngineShape& shape, const LayerShape& layer) {
  const bool mla = shape.format == KvFormat::kNlXNbBsHs;
  KVC_ASSERT(mla || layer.dim0_padding == 0);
  const std::vector<Dim> order = order_in_memory(shape.format);
  const auto size_of = [&](Dim dim) -> std::size_t {
    switch (dim) {
      case Dim::kKv:
        return 2;
      case Dim::kBlock:
        return shape.num_blocks;
      case Dim::kSlot:
        return layer.block_size;
      case Dim::kHead:
        return layer.num_heads;
      case Dim::kElement:
        return layer.head_size;
    }
    KVC_ASSERT(false);
  };

  TensorPlan tensor;
  tensor.dtype = layer.dtype;
  tensor.element_size = element_size_of(layer.dtype);
  tensor.storage_offset = shape.storage_offset;
  Layer place{};
  place.tensor = tensors_.size();
  place.base = shape.storage_offset;
  place.kv_size = mla ? 1 : 2;
  place.block_size = layer.block_size;
  place.num_heads = mla ? 1 : layer.num_heads;
  place.head_size = layer.head_size;
  place.element_size = tensor.element_size;

  std::size_t stride = 1;
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    if (mla && *dim == Dim::kBlock) stride += layer.dim0_padding;
    if (*dim == Dim::kKv) place.kv_stride = stride;
    if (*dim == Dim::kBlock) place.block_stride = stride;
    if (*dim == Dim::kSlot) place.slot_stride = stride;
    if (*dim == Dim::kHead) place.head_stride = stride;
    tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(size_of(*dim)));
    tensor.stride.insert(tensor.stride.begin(), static_cast<std::int64_t>(stride));
    stride *= size_of(*dim);
  }
  tensor.size_bytes = (shape.storage_offset + stride) * tensor.element_size;
  if (shape.permuted_view) {
    // The same memory, shown with slots and heads the other way round.
    const auto slot =
        static_cast<std::size_t>(std::find(order.begin(), order.end(), Dim::kSlot) - order.begin());
    const auto head =
        static_cast<std::size_t>(std::find(order.begin(), order.end(), Dim::kHead) - order.begin());
    KVC_ASSERT(head < order.size());
    std::swap(tensor.shape[slot], tensor.shape[head]);
    std::swap(tensor.stride[slot], tensor.stride[head]);
  }
  tensors_.push_back(std::move(tensor));
  layers_.push_back(place);
}

void Geometry::add_pool_tensor(const EngineShape& shape) {
  TensorPlan tensor;
  tensor.dtype = shape.dtype;
  tensor.element_size = element_size_of(shape.dtype);
  tensor.storage_offset = shape.storage_offset;
  const std::size_t flat = shape.num_heads * shape.block_size * shape.head_size;
  const std::size_t block = shape.num_layers * 2 * flat;
  tensor.shape = {static_cast<std::int64_t>(shape.num_blocks),
                  static_cast<std::int64_t>(shape.num_layers), 2, static_cast<std::int64_t>(flat)};
  tensor.stride = {static_cast<std::int64_t>(block), static_cast<std::int64_t>(2 * flat),
                   static_cast<std::int64_t>(flat), 1};
  tensor.size_bytes = (shape.storage_offset + shape.num_blocks * block) * tensor.element_size;
  for (std::size_t i = 0; i < shape.num_layers; ++i) {
    Layer place{};
    place.base = shape.storage_offset + i * 2 * flat;
    place.kv_size = 2;
    place.block_size = shape.block_size;
    place.num_heads = shape.num_heads;
    place.head_size = shape.head_size;
    place.element_size = tensor.element_size;
    place.kv_stride = flat;
    place.block_stride = block;
    place.slot_stride = shape.head_size;
    place.head_stride = shape.block_size * shape.head_size;
    layers_.push_back(place);
  }
  tensors_.push_back(std::move(tensor));
}

void Geometry::for_each_row(std::size_t block,
                            const std::function<void(const RowPlace&)>& visit) const {
  KVC_ASSERT(block < num_blocks_);
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    const Layer& layer = layers_[index];
    for (std::size_t kv = 0; kv < layer.kv_size; ++kv)
      for (std::size_t slot = 0; slot < layer.block_size; ++slot)
        for (std::size_t head = 0; head < layer.num_heads; ++head) {
          const std::size_t element = layer.base + kv * layer.kv_stride +
                                      block * layer.block_stride + slot * layer.slot_stride +
                                      head * layer.head_stride;
          visit({index, kv, slot, head, layer.tensor, element * layer.element_size,
                 layer.head_size * layer.element_size, layer.element_size});
        }
  }
}

std::string Geometry::place_in_words(std::size_t at) const {
  std::string words = "past the end";
  std::size_t passed = 0;
  bool found = false;
  for_each_row(0, [&](const RowPlace& row) {
    if (!found && at < passed + row.size) {
      found = true;
      words = "layer " + std::to_string(row.layer) + ", kv " + std::to_string(row.kv) + ", slot " +
              std::to_string(row.slot) + ", head " + std::to_string(row.head) + ", element " +
              std::to_string((at - passed) / row.element_size);
    }
    passed += row.size;
  });
  return words;
}

void write_pattern(std::uint64_t seed, const RowPlace& row, std::uint8_t* out) {
  const std::uint64_t place =
      (static_cast<std::uint64_t>(row.layer) << 48) | (static_cast<std::uint64_t>(row.kv) << 47) |
      (static_cast<std::uint64_t>(row.slot) << 32) | (static_cast<std::uint64_t>(row.head) << 20);
  const std::uint64_t of_row = mix(seed) ^ place;
  for (std::size_t at = 0, element = 0; at < row.size; at += row.element_size, ++element) {
    const std::uint64_t value = mix(of_row + element * 0x9e3779b97f4a7c15U);
    std::memcpy(out + at, &value, row.element_size);
  }
}

Bytes pattern_content(const Geometry& geometry, std::uint64_t seed) {
  Bytes content(geometry.block_bytes());
  std::size_t at = 0;
  geometry.for_each_row(0, [&](const RowPlace& row) {
    write_pattern(seed, row, content.data() + at);
    at += row.size;
  });
  return content;
}

Bytes block_content(const Geometry& geometry, const MemoryImage& image, std::size_t block) {
  Bytes content;
  content.reserve(geometry.block_bytes());
  geometry.for_each_row(block, [&](const RowPlace& row) {
    const auto from = image[row.tensor].begin() + static_cast<std::ptrdiff_t>(row.offset);
    content.insert(content.end(), from, from + static_cast<std::ptrdiff_t>(row.size));
  });
  return content;
}

void put_block(const Geometry& geometry, MemoryImage& image, std::size_t block,
               const Bytes& content) {
  KVC_ASSERT(content.size() == geometry.block_bytes());
  std::size_t at = 0;
  geometry.for_each_row(block, [&](const RowPlace& row) {
    std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(at), row.size,
                image[row.tensor].begin() + static_cast<std::ptrdiff_t>(row.offset));
    at += row.size;
  });
}

}  // namespace kvc::conformance
