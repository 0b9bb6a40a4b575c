// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// TransferPlan: a registration's layout as the kernel wants it: a table of planes, and for each
// layer group the widest rows and vectors that every address allows. Made once a registration;
// host memory only, so it is tested where no GPU is. Keeps addresses into the space's buffers, so
// it must not outlive them. Immutable: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "device/cuda/transfer_index.h"
#include "kvc/device/device.h"

namespace kvc::cuda {

// Chunk objects in the staging begin on this, as device allocations do.
inline constexpr std::size_t kStagingAlignment = 256;

// Some chunks of one direction, staged one behind the other.
struct TransferBatch {
  std::span<const ChunkCopy> chunks;
  std::uint8_t* staging = nullptr;         // chunks.size() * chunk_stride() bytes, aligned
  const TransferPlane* planes = nullptr;   // planes(), copied to where the launch runs
  const std::uint32_t* spoiled = nullptr;  // see TransferLaunch
};

class TransferPlan {
 public:
  explicit TransferPlan(const BlockSpace& space);

  const std::vector<TransferPlane>& planes() const { return planes_; }
  std::size_t chunk_bytes() const { return chunk_bytes_; }
  std::size_t chunk_stride() const { return chunk_stride_; }  // of chunks in the staging

  // Calls `visit` for launches that together move all blocks of the batch that are not skipped.
  // REQUIRES: block ids as ChunkCopy says.
  void for_each_launch(const TransferBatch& batch,
                       const std::function<void(const TransferLaunch&)>& visit) const;

  // The launches' vectors, widest first; for tests and reports.
  std::vector<std::uint32_t> vector_widths() const;

 private:
  struct Group {
    std::size_t first_plane = 0;
    std::size_t num_planes = 0;
    TransferShape shape{};
  };
  void add_group(const BlockSpace& space, const LayerGroup& group);
  void visit_groups(TransferLaunch& launch, const TransferPlane* planes,
                    const std::function<void(const TransferLaunch&)>& visit) const;

  std::vector<TransferPlane> planes_;
  std::vector<Group> groups_;
  std::size_t chunk_bytes_ = 0;
  std::size_t chunk_stride_ = 0;
  std::size_t blocks_per_chunk_ = 0;
  std::size_t num_blocks_ = 0;
};

}  // namespace kvc::cuda
