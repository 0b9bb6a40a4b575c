// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The errors that a test asks for, and the sticky one that ends everything. Any thread.
#pragma once

#include <cuda_runtime_api.h>

namespace kvc::fake_gpu {

// What the call answers before it does anything: success, or an error.
cudaError_t fault_of(const char* call);

cudaError_t sticky_error();
void set_sticky_error(cudaError_t error);
bool is_sticky_here(cudaError_t error);

}  // namespace kvc::fake_gpu
