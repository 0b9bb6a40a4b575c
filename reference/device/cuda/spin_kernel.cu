// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/spin_kernel.h"

namespace kvc::cuda {
namespace {

__global__ void spin_kernel(const volatile std::uint32_t* word) {
  while (*word == 0) {
  }
}

}  // namespace

cudaError_t launch_spin(const std::uint32_t* word_on_gpu, cudaStream_t stream) {
  spin_kernel<<<1, 1, 0, stream>>>(word_on_gpu);
  return cudaGetLastError();
}

cudaError_t find_spin_kernel() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, spin_kernel);
}

}  // namespace kvc::cuda
