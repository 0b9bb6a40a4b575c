// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/staging.h"

#include <algorithm>
#include <string>

namespace kvc::cuda {
namespace {

// Small chunks share a slot, so that a piece on the bus is worth its launch: about 0.6 ms of a bus
// of 55 GB/s. A larger chunk has a slot of its own.
constexpr std::size_t kSlotBytes = std::size_t{32} << 20;

}  // namespace

Staging::Staging(const std::shared_ptr<Gpu>& gpu, std::size_t chunk_stride)
    : gpu_(gpu),
      chunks_per_slot_(std::max<std::size_t>(kSlotBytes / chunk_stride, 1)),
      to_host_(gpu, StreamPriority::kNormal),
      to_gpu_(gpu, StreamPriority::kHigh),
      bus_end_(gpu, cudaEventDisableTiming) {
  for (Slot& slot : slots_) {
    slot.memory = std::make_unique<PoolMemory>(gpu, chunks_per_slot_ * chunk_stride, to_gpu_.get());
    slot.filled = std::make_unique<NativeEvent>(gpu, cudaEventDisableTiming);
    slot.free = std::make_unique<NativeEvent>(gpu, cudaEventDisableTiming);
  }
  // The pool's memory is there in the order of one stream; from here on in that of all.
  gpu->check(cudaStreamSynchronize(to_gpu_.get()), "cudaStreamSynchronize", "of a new staging");
}

Staging::Slot& Staging::next_slot() {
  Slot& slot = slots_[next_];
  next_ = (next_ + 1) % slots_.size();
  return slot;
}

void Staging::join(cudaStream_t stream) {
  for (const cudaStream_t bus : {to_host(), to_gpu()}) {
    cudaError_t error = cudaEventRecord(bus_end_.get(), bus);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(stream, bus_end_.get(), 0);
    if (error == cudaSuccess) continue;
    const std::string text = gpu_->meet(error, "cudaStreamWaitEvent", "for the bus");
    // Of both: whoever called gives up the objects that they read and write.
    for (const cudaStream_t each : {to_host(), to_gpu()})
      if (const cudaError_t left = cudaStreamSynchronize(each); left != cudaSuccess)
        gpu_->meet(left, "cudaStreamSynchronize", "of the bus");
    throw DeviceError(text);
  }
}

}  // namespace kvc::cuda
