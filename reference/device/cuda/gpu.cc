// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/gpu.h"

#include "device/cuda/cuda_error.h"
#include "kvc/device/device.h"

namespace kvc::cuda {

void Gpu::enter() {
  if (health.ended()) throw DeviceError("the CUDA device has ended: " + health.reason());
  check(cudaSetDevice(ordinal_), "cudaSetDevice", std::to_string(ordinal_));
}

bool Gpu::try_enter() noexcept { return !health.ended() && cudaSetDevice(ordinal_) == cudaSuccess; }

void Gpu::check(cudaError_t error, std::string_view call, std::string_view place) {
  if (error != cudaSuccess) throw DeviceError(meet(error, call, place));
}

std::string Gpu::meet(cudaError_t error, std::string_view call, std::string_view place) {
  std::string text = error_text(call, place, error);
  // An error that passes is forgotten: the next launch would report it as its own.
  cudaGetLastError();
  if (is_sticky(error)) health.end(text);
  return text;
}

}  // namespace kvc::cuda
