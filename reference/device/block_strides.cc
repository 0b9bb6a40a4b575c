// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/block_strides.h"

#include "device/format_axes.h"

namespace kvc {

BlockStrides block_strides(const Layout& layout, std::size_t layer) {
  KVC_ASSERT(layer < layout.num_layers);
  const FormatAxes axes = format_axes(layout.format);
  const bool one_tensor = axes.layer != FormatAxes::kNone;
  BlockStrides strides;
  strides.tensor = one_tensor ? 0 : layer;
  const TensorDesc& desc = layout.tensors[strides.tensor];
  const auto bytes = [&](std::size_t axis) {
    return axis == FormatAxes::kNone
               ? std::size_t{0}
               : static_cast<std::size_t>(desc.stride[axis]) * desc.element_size;
  };
  strides.base = desc.base_offset_bytes + (one_tensor ? layer * bytes(axes.layer) : 0);
  strides.kv = bytes(axes.kv);
  strides.block = bytes(axes.block);
  strides.slot = bytes(axes.slot);
  strides.head = bytes(axes.head);
  return strides;
}

void for_each_run(const Layout& layout, std::int64_t block_id, std::size_t index_in_chunk,
                  const std::function<void(const Run&)>& visit) {
  KVC_ASSERT(block_id >= 0 && static_cast<std::size_t>(block_id) < layout.num_blocks);
  KVC_ASSERT(index_in_chunk < layout.blocks_per_chunk());
  const auto block = static_cast<std::size_t>(block_id);
  for (const LayerGroup& group : layout.groups) {
    const std::size_t head_bytes = group.head_size * group.element_size;
    for (std::size_t kv = 0; kv < group.kv_size; ++kv) {
      for (std::size_t i = 0; i < group.layers.size(); ++i) {
        const BlockStrides at = block_strides(layout, group.layers[i]);
        for (std::size_t slot = 0; slot < group.block_size; ++slot) {
          const std::size_t row = (kv * group.layers.size() + i) * group.slots_per_chunk +
                                  index_in_chunk * group.block_size + slot;
          for (std::size_t head = 0; head < group.num_heads; ++head) {
            visit(Run{at.tensor,
                      at.base + kv * at.kv + block * at.block + slot * at.slot + head * at.head,
                      group.object_offset_bytes + row * group.hidden_bytes() + head * head_bytes,
                      head_bytes});
          }
        }
      }
    }
  }
}

}  // namespace kvc
