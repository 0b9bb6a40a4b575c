// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/layer_groups.h"

#include <algorithm>
#include <string>
#include <utility>

#include "device/checked.h"
#include "device/format_axes.h"

namespace kvc {
namespace {

Error refuse(std::string path, std::string message) {
  return {Errc::kInvalidArgument, std::move(path), std::move(message)};
}

std::size_t dimension(const TensorDesc& desc, std::size_t axis) {
  return axis == FormatAxes::kNone ? 1 : static_cast<std::size_t>(desc.shape[axis]);
}

LayerGroup identity_of(const TensorDesc& desc, const FormatAxes& axes) {
  LayerGroup group;
  group.kv_size = dimension(desc, axes.kv);
  group.num_heads = dimension(desc, axes.head);
  group.head_size = dimension(desc, axes.element);
  group.block_size = dimension(desc, axes.slot);
  group.element_size = desc.element_size;
  group.dtype = desc.dtype;
  return group;
}

bool same_identity(const LayerGroup& a, const LayerGroup& b) {
  return a.kv_size == b.kv_size && a.num_heads == b.num_heads && a.head_size == b.head_size &&
         a.block_size == b.block_size && a.dtype == b.dtype;
}

// Where a group's layers were said, for errors: the tensor of its first layer.
std::string path_of(const Layout& layout, const LayerGroup& group) {
  const bool one_tensor = format_axes(layout.format).layer != FormatAxes::kNone;
  return "$[" + std::to_string(one_tensor ? 0 : group.layers.front()) + "].shape";
}

// How many tokens a slot of the group holds.
Result<std::size_t> compress_ratio(const Layout& layout, const LayerGroup& group, bool hinted) {
  const std::string block = std::to_string(group.block_size);
  const std::string tokens = std::to_string(layout.tokens_per_block);
  if (!hinted) {
    // Block ids count blocks of the first group, so another size cannot be addressed.
    if (group.block_size != layout.tokens_per_block)
      return refuse(path_of(layout, group), "block size " + block +
                                                " differs from the first layer's " + tokens +
                                                ", without inference_engine_logical_block_size");
    return std::size_t{1};
  }
  if (layout.tokens_per_block % group.block_size != 0)
    return refuse(path_of(layout, group), "block size " + block +
                                              " does not divide "
                                              "inference_engine_logical_block_size " +
                                              tokens);
  const std::size_t ratio = layout.tokens_per_block / group.block_size;
  if (layout.chunk_size % ratio != 0)
    return refuse(path_of(layout, group), "compression by " + std::to_string(ratio) +
                                              " does not divide the chunk size " +
                                              std::to_string(layout.chunk_size));
  return ratio;
}

Result<void> choose_tokens_per_block(Layout& layout, std::optional<Int> logical_block_size) {
  std::string source = "block size ";
  std::string path = path_of(layout, layout.groups.front());
  if (logical_block_size) {
    const auto tokens = logical_block_size->as_u64();
    path = "$.layout_hints.inference_engine_logical_block_size";
    source.clear();
    if (!tokens || *tokens == 0)
      return refuse(path, "expected 1 or more, got " + logical_block_size->to_string());
    layout.tokens_per_block = *tokens;
  } else {
    layout.tokens_per_block = layout.groups.front().block_size;
  }
  if (layout.chunk_size % layout.tokens_per_block != 0)
    return refuse(path, source + std::to_string(layout.tokens_per_block) +
                            " does not divide the chunk size " + std::to_string(layout.chunk_size));
  return {};
}

}  // namespace

Result<void> group_layers(Layout& layout, std::optional<Int> logical_block_size) {
  const FormatAxes axes = format_axes(layout.format);
  layout.groups.clear();
  for (std::size_t layer = 0; layer < layout.num_layers; ++layer) {
    const bool one_tensor = axes.layer != FormatAxes::kNone;
    LayerGroup identity = identity_of(layout.tensors[one_tensor ? 0 : layer], axes);
    auto group = std::find_if(layout.groups.begin(), layout.groups.end(),
                              [&](const LayerGroup& g) { return same_identity(g, identity); });
    if (group == layout.groups.end())
      group = layout.groups.insert(layout.groups.end(), std::move(identity));
    group->layers.push_back(layer);
  }

  const Result<void> chosen = choose_tokens_per_block(layout, logical_block_size);
  if (!chosen) return chosen.error();

  CheckedSize offset(0);
  for (LayerGroup& group : layout.groups) {
    const Result<std::size_t> ratio = compress_ratio(layout, group, logical_block_size.has_value());
    if (!ratio) return ratio.error();
    group.compress_ratio = *ratio;
    group.slots_per_chunk = layout.chunk_size / *ratio;
    CheckedSize bytes(group.kv_size);
    bytes *= group.layers.size();
    bytes *= group.slots_per_chunk;
    bytes *= group.hidden_bytes();
    group.object_offset_bytes = offset.value();
    group.object_bytes = bytes.value();
    offset += bytes;
    if (!offset.ok()) return refuse(path_of(layout, group), "a chunk takes more than 2^64 bytes");
  }
  layout.chunk_bytes = offset.value();
  return {};
}

}  // namespace kvc
