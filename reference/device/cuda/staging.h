// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Staging: the GPU memory in which chunk objects lie whole between the bus and the paged blocks:
// two slots, so that one crosses the bus while the other is gathered or scattered, and the streams
// on which they cross, one each way, as a GPU has an engine for each. Belongs to one stream, and
// is used under its lock.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "device/cuda/cuda_event.h"
#include "device/cuda/cuda_memory.h"
#include "device/cuda/native_stream.h"

namespace kvc::cuda {

class Staging {
 public:
  struct Slot {
    std::unique_ptr<PoolMemory> memory;
    std::unique_ptr<NativeEvent> filled;  // what the slot holds is all there
    std::unique_ptr<NativeEvent> free;    // and is needed no more
  };

  // For chunks of `chunk_stride` bytes. Throws DeviceError. REQUIRES: the GPU was entered.
  Staging(const std::shared_ptr<Gpu>& gpu, std::size_t chunk_stride);

  std::size_t chunks_per_slot() const { return chunks_per_slot_; }
  // The slots in turn.
  Slot& next_slot();
  // Makes `stream` wait for all that crosses the bus. When even that cannot be queued it waits
  // here.
  void join(cudaStream_t stream);
  cudaStream_t to_host() const { return to_host_.get(); }
  cudaStream_t to_gpu() const { return to_gpu_.get(); }

 private:
  const std::shared_ptr<Gpu> gpu_;
  const std::size_t chunks_per_slot_;
  NativeStream to_host_;
  NativeStream to_gpu_;
  NativeEvent bus_end_;
  std::array<Slot, 2> slots_;
  std::size_t next_ = 0;
};

}  // namespace kvc::cuda
