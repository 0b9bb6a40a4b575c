// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The fake GPU's memory. Each allocation is mapped twice: at its address, where nobody may read or
// write, and where the fake's own copies and kernels do. Any thread.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace kvc::fake_gpu {

enum class MemoryKind { kShared, kPool };  // cudaMalloc, cudaMallocAsync

cudaError_t allocate(void** address, std::size_t size_bytes, MemoryKind kind);
cudaError_t release(void* address, MemoryKind kind);
cudaError_t export_memory(cudaIpcMemHandle_t* handle, void* address);
cudaError_t import_memory(void** address, const cudaIpcMemHandle_t& handle);
cudaError_t close_memory(void* address);

// Where [address, address + size_bytes) of the device can be used; null when it is not all within
// one allocation.
std::uint8_t* usable(const void* address, std::size_t size_bytes);
// From `address` to its allocation's end, or 0.
std::size_t bytes_behind(const void* address);
bool is_device_address(const void* address);
// All zero, without touching pages that never were.
void zero(const void* address, std::size_t size_bytes);

// Host memory that is pinned.
cudaError_t pin(void* memory, std::size_t size_bytes);
cudaError_t unpin(void* memory);
void forget_pins();
bool is_pinned(const void* memory, std::size_t size_bytes);

}  // namespace kvc::fake_gpu
