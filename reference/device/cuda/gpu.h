// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Gpu: which GPU, and how its errors are met. Every entry into CUDA begins with enter(), as the
// current GPU is a thread's own affair. Shared by all that lives on the GPU. Any thread.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <string_view>

#include "device/cuda/device_health.h"
#include "device/cuda/device_uuid.h"

namespace kvc::cuda {

class Gpu {
 public:
  Gpu(int ordinal, const UuidBytes& uuid, std::function<void(const std::string&)> log)
      : health(std::move(log)), ordinal_(ordinal), uuid_(uuid) {}

  // Makes it the calling thread's GPU. Throws DeviceError once the device has ended.
  void enter();
  // The same for destructors: answers whether calls make sense.
  bool try_enter() noexcept;

  // Throws DeviceError unless `error` is success.
  void check(cudaError_t error, std::string_view call, std::string_view place = {});
  // Takes note of an error, and answers it in words. What ends the device does so here.
  std::string meet(cudaError_t error, std::string_view call, std::string_view place = {});

  int ordinal() const { return ordinal_; }
  const UuidBytes& uuid() const { return uuid_; }

  DeviceHealth health;

 private:
  const int ordinal_;
  const UuidBytes uuid_;
};

}  // namespace kvc::cuda
