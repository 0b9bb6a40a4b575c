// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// NativeStream: a cudaStream_t and its end. Never the default stream, and independent of it.
// Destroying it does not wait for its work.
#pragma once

#include <memory>
#include <utility>

#include "device/cuda/gpu.h"
#include "kvc/device/device.h"

namespace kvc::cuda {

class NativeStream {
 public:
  // Throws DeviceError. REQUIRES: the GPU was entered.
  NativeStream(std::shared_ptr<Gpu> gpu, StreamPriority priority) : gpu_(std::move(gpu)) {
    int least = 0, greatest = 0;
    gpu_->check(cudaDeviceGetStreamPriorityRange(&least, &greatest),
                "cudaDeviceGetStreamPriorityRange");
    gpu_->check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                             priority == StreamPriority::kHigh ? greatest : least),
                "cudaStreamCreateWithPriority");
  }
  ~NativeStream() {
    if (gpu_->try_enter()) cudaStreamDestroy(stream_);
  }
  NativeStream(const NativeStream&) = delete;
  NativeStream& operator=(const NativeStream&) = delete;

  cudaStream_t get() const { return stream_; }

 private:
  const std::shared_ptr<Gpu> gpu_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace kvc::cuda
