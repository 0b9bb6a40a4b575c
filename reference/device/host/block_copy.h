// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// BlockCopy: the host device's copy between paged blocks and chunk objects: what for_each_run
// means, in as few and as long pieces as the layout allows. Made once for a batch of chunks; keeps
// addresses into the space's buffers, so it must not outlive them. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kvc/device/device.h"

namespace kvc {

class BlockCopy {
 public:
  explicit BlockCopy(const BlockSpace& space);

  // REQUIRES: block ids as ChunkCopy says.
  void run(const ChunkCopy& chunk) const;

  // One layer's keys or values.
  struct Plane {
    std::uint8_t* address = nullptr;  // of block 0
    std::size_t block_stride = 0;
    std::size_t slot_stride = 0;
    std::size_t head_stride = 0;
    std::size_t object_offset = 0;  // of the chunk's slot 0
    std::size_t num_slots = 0;      // of a block
    std::size_t num_heads = 0;
    std::size_t head_bytes = 0;

    std::size_t slot_bytes() const { return num_heads * head_bytes; }     // in the object
    std::size_t block_bytes() const { return num_slots * slot_bytes(); }  // in the object
    // A block's bytes lie in the tensor in the order of the object.
    bool whole_blocks() const {
      return (num_heads == 1 || head_stride == head_bytes) &&
             (num_slots == 1 || slot_stride == slot_bytes());
    }
  };

 private:
  std::vector<Plane> planes_;  // in the order of the object
  std::size_t num_blocks_ = 0;
  std::size_t blocks_per_chunk_ = 0;
};

}  // namespace kvc
