// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/transfer_plan.h"

#include <algorithm>

#include "device/block_strides.h"
#include "kvc/protocol/assert.h"

namespace kvc::cuda {
namespace {

// The widest vector that divides all of `alignment`'s summands: its lowest set bit, at most 16.
std::uint32_t widest_vector(std::uint64_t alignment) {
  for (std::uint32_t bytes = 16; bytes > 1; bytes /= 2)
    if (alignment % bytes == 0) return bytes;
  return 1;
}

}  // namespace

TransferPlan::TransferPlan(const BlockSpace& space)
    : chunk_bytes_(space.layout.chunk_bytes),
      chunk_stride_((space.layout.chunk_bytes + kStagingAlignment - 1) / kStagingAlignment *
                    kStagingAlignment),
      blocks_per_chunk_(space.layout.blocks_per_chunk()),
      num_blocks_(space.layout.num_blocks) {
  for (const LayerGroup& group : space.layout.groups) add_group(space, group);
}

void TransferPlan::add_group(const BlockSpace& space, const LayerGroup& group) {
  Group added;
  added.first_plane = planes_.size();
  const std::uint64_t head_bytes = group.head_size * group.element_size;
  for (std::size_t kv = 0; kv < group.kv_size; ++kv)
    for (std::size_t i = 0; i < group.layers.size(); ++i) {
      const BlockStrides at = block_strides(space.layout, group.layers[i]);
      const std::size_t row = (kv * group.layers.size() + i) * group.slots_per_chunk;
      planes_.push_back(TransferPlane{space.buffers[at.tensor]->address() + at.base + kv * at.kv,
                                      at.block, at.slot, at.head,
                                      group.object_offset_bytes + row * group.hidden_bytes()});
    }
  added.num_planes = planes_.size() - added.first_plane;
  const std::span planes(&planes_[added.first_plane], added.num_planes);

  // Rows grow from a head to a slot to a block where each plane has them one behind the other.
  std::uint64_t row_bytes = head_bytes;
  std::uint64_t num_heads = group.num_heads;
  std::uint64_t num_slots = group.block_size;
  const auto dense_heads = [&](const TransferPlane& plane) {
    return plane.head_stride == row_bytes;
  };
  if (num_heads == 1 || std::all_of(planes.begin(), planes.end(), dense_heads)) {
    row_bytes *= num_heads;
    num_heads = 1;
  }
  const auto dense_slots = [&](const TransferPlane& plane) {
    return plane.slot_stride == row_bytes;
  };
  if (num_heads == 1 &&
      (num_slots == 1 || std::all_of(planes.begin(), planes.end(), dense_slots))) {
    row_bytes *= num_slots;
    num_slots = 1;
  }

  // Strides that are never taken do not narrow the vectors.
  std::uint64_t alignment = row_bytes | kStagingAlignment;
  for (TransferPlane& plane : planes) {
    if (num_heads == 1) plane.head_stride = 0;
    if (num_slots == 1) plane.slot_stride = 0;
    alignment |= reinterpret_cast<std::uintptr_t>(plane.address) | plane.block_stride |
                 plane.slot_stride | plane.head_stride | plane.object_offset;
  }
  added.shape.num_slots = static_cast<std::uint32_t>(num_slots);
  added.shape.num_heads = static_cast<std::uint32_t>(num_heads);
  added.shape.vector_bytes = widest_vector(alignment);
  added.shape.row_vectors = row_bytes / added.shape.vector_bytes;
  groups_.push_back(added);
}

void TransferPlan::visit_groups(TransferLaunch& launch, const TransferPlane* planes,
                                const std::function<void(const TransferLaunch&)>& visit) const {
  if (launch.num_blocks == 0) return;
  for (const Group& group : groups_) {
    launch.planes = planes + group.first_plane;
    launch.num_planes = static_cast<std::uint32_t>(group.num_planes);
    launch.shape = group.shape;
    visit(launch);
  }
  launch.num_blocks = 0;
}

void TransferPlan::for_each_launch(const TransferBatch& batch,
                                   const std::function<void(const TransferLaunch&)>& visit) const {
  KVC_ASSERT(reinterpret_cast<std::uintptr_t>(batch.staging) % kStagingAlignment == 0);
  TransferLaunch launch{};
  launch.staging = batch.staging;
  launch.spoiled = batch.spoiled;
  launch.chunk_stride = chunk_stride_;
  launch.blocks_per_chunk = static_cast<std::uint32_t>(blocks_per_chunk_);
  for (std::size_t chunk = 0; chunk < batch.chunks.size(); ++chunk) {
    const ChunkCopy& copy = batch.chunks[chunk];
    KVC_ASSERT(copy.block_ids.size() == blocks_per_chunk_);
    for (std::size_t i = std::min(copy.num_blocks_skipped, blocks_per_chunk_);
         i < blocks_per_chunk_; ++i) {
      const std::int64_t id = copy.block_ids[i];
      KVC_ASSERT(id >= 0 && static_cast<std::size_t>(id) < num_blocks_);
      const auto position = static_cast<std::uint32_t>(chunk * blocks_per_chunk_ + i);
      // A launch takes positions without gaps, as many as its argument holds.
      if (launch.num_blocks == kBlocksPerLaunchMax ||
          position != launch.first_block + launch.num_blocks)
        visit_groups(launch, batch.planes, visit);
      if (launch.num_blocks == 0) launch.first_block = position;
      launch.block_ids[launch.num_blocks++] = id;
    }
  }
  visit_groups(launch, batch.planes, visit);
}

std::vector<std::uint32_t> TransferPlan::vector_widths() const {
  std::vector<std::uint32_t> widths;
  for (const Group& group : groups_) widths.push_back(group.shape.vector_bytes);
  std::sort(widths.rbegin(), widths.rend());
  return widths;
}

}  // namespace kvc::cuda
