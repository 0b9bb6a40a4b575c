// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// CUDA's errors: as DeviceError with call, place and CUDA's words, and told apart by whether CUDA
// can go on. Any thread.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

namespace kvc::cuda {

// After these every call of the process on this GPU fails with the same error.
bool is_sticky(cudaError_t error);

// "cudaMemcpyAsync of 4096 bytes: an illegal memory access was encountered (cudaError 700)"
std::string error_text(std::string_view call, std::string_view place, cudaError_t error);

}  // namespace kvc::cuda
