// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// A kernel that runs until it is told to end, to play an engine that is not done yet.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace kvc::cuda {

// Runs until *word, in mapped host memory, is not 0.
cudaError_t launch_spin(const std::uint32_t* word_on_gpu, cudaStream_t stream);

// Loads it, as find_kernels() does the others.
cudaError_t find_spin_kernel();

}  // namespace kvc::cuda
