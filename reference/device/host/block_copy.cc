// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/host/block_copy.h"

#include <algorithm>
#include <cstring>

#include "device/block_strides.h"

namespace kvc {
namespace {

using Plane = BlockCopy::Plane;

// Pieces of a constant size, as memcpy of some KiB may choose `rep movsb`, which is 5 to 15 times
// slower when the two sides' alignments differ (measured on EPYC with glibc 2.36: 0.6 GB/s instead
// of 9.7 for 4 KiB). Many whole pages by one memcpy would be no faster.
constexpr std::size_t kPieceBytes = 256;

template <std::size_t kSize = 0>
void copy_bytes(std::uint8_t* to, const std::uint8_t* from, std::size_t size) {
  if constexpr (kSize != 0) {
    std::memcpy(to, from, kSize);
  } else {
    std::size_t done = 0;
    for (; size - done >= kPieceBytes; done += kPieceBytes)
      std::memcpy(to + done, from + done, kPieceBytes);
    std::memcpy(to + done, from + done, size - done);
  }
}

template <CopyDirection kDirection, std::size_t kSize = 0>
void move_bytes(std::uint8_t* tensor, std::uint8_t* object, std::size_t size) {
  if constexpr (kDirection == CopyDirection::kBlocksToChunk)
    copy_bytes<kSize>(object, tensor, size);
  else
    copy_bytes<kSize>(tensor, object, size);
}

// Blocks that follow each other in memory and in the chunk are one piece.
template <CopyDirection kDirection>
void copy_whole_blocks(const Plane& plane, const ChunkCopy& chunk, std::size_t first) {
  const std::size_t block_bytes = plane.block_bytes();
  const bool dense = plane.block_stride == block_bytes;
  const std::vector<std::int64_t>& ids = chunk.block_ids;
  for (std::size_t i = first; i < ids.size();) {
    std::size_t count = 1;
    while (dense && i + count < ids.size() && ids[i + count] == ids[i + count - 1] + 1) ++count;
    move_bytes<kDirection>(plane.address + static_cast<std::size_t>(ids[i]) * plane.block_stride,
                           chunk.object + plane.object_offset + i * block_bytes,
                           count * block_bytes);
    i += count;
  }
}

// Heads before slots in the tensor, slots before heads in the object. A constant size makes the
// copy of a head a few moves instead of a call: kHeadBytes is it, or 0 when it is none of the
// usual.
template <CopyDirection kDirection, std::size_t kHeadBytes>
void copy_heads(const Plane& plane, const ChunkCopy& chunk, std::size_t first) {
  const std::size_t head_bytes = kHeadBytes != 0 ? kHeadBytes : plane.head_bytes;
  std::uint8_t* object = chunk.object + plane.object_offset + first * plane.block_bytes();
  for (std::size_t i = first; i < chunk.block_ids.size(); ++i) {
    std::uint8_t* const block =
        plane.address + static_cast<std::size_t>(chunk.block_ids[i]) * plane.block_stride;
    for (std::size_t slot = 0; slot < plane.num_slots; ++slot) {
      std::uint8_t* tensor = block + slot * plane.slot_stride;
      for (std::size_t head = 0; head < plane.num_heads; ++head) {
        move_bytes<kDirection, kHeadBytes>(tensor, object, head_bytes);
        tensor += plane.head_stride;
        object += head_bytes;
      }
    }
  }
}

template <CopyDirection kDirection>
void copy_plane(const Plane& plane, const ChunkCopy& chunk, std::size_t first) {
  if (plane.whole_blocks()) return copy_whole_blocks<kDirection>(plane, chunk, first);
  switch (plane.head_bytes) {
    case 64:
      return copy_heads<kDirection, 64>(plane, chunk, first);
    case 128:
      return copy_heads<kDirection, 128>(plane, chunk, first);
    case 256:
      return copy_heads<kDirection, 256>(plane, chunk, first);
    default:
      return copy_heads<kDirection, 0>(plane, chunk, first);
  }
}

}  // namespace

BlockCopy::BlockCopy(const BlockSpace& space)
    : num_blocks_(space.layout.num_blocks), blocks_per_chunk_(space.layout.blocks_per_chunk()) {
  for (const LayerGroup& group : space.layout.groups) {
    for (std::size_t kv = 0; kv < group.kv_size; ++kv) {
      for (std::size_t i = 0; i < group.layers.size(); ++i) {
        const BlockStrides strides = block_strides(space.layout, group.layers[i]);
        Plane plane;
        plane.address = space.buffers[strides.tensor]->address() + strides.base + kv * strides.kv;
        plane.block_stride = strides.block;
        plane.slot_stride = strides.slot;
        plane.head_stride = strides.head;
        plane.num_slots = group.block_size;
        plane.num_heads = group.num_heads;
        plane.head_bytes = group.head_size * group.element_size;
        plane.object_offset = group.object_offset_bytes + (kv * group.layers.size() + i) *
                                                              group.slots_per_chunk *
                                                              plane.slot_bytes();
        planes_.push_back(plane);
      }
    }
  }
}

void BlockCopy::run(const ChunkCopy& chunk) const {
  const bool store = chunk.direction == CopyDirection::kBlocksToChunk;
  KVC_ASSERT(chunk.object != nullptr && chunk.block_ids.size() == blocks_per_chunk_);
  KVC_ASSERT(std::all_of(chunk.block_ids.begin(), chunk.block_ids.end(), [this](std::int64_t id) {
    return id >= 0 && static_cast<std::size_t>(id) < num_blocks_;
  }));
  KVC_ASSERT(!store || chunk.num_blocks_skipped == 0);
  const std::size_t first = std::min(chunk.num_blocks_skipped, chunk.block_ids.size());
  for (const Plane& plane : planes_) {
    if (store)
      copy_plane<CopyDirection::kBlocksToChunk>(plane, chunk, first);
    else
      copy_plane<CopyDirection::kChunkToBlocks>(plane, chunk, first);
  }
}

}  // namespace kvc
