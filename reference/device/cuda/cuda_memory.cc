// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/cuda_memory.h"

#include <cuda.h>

#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "device/cuda/host_numa.h"
#include "kvc/protocol/assert.h"

namespace kvc::cuda {
namespace {

constexpr std::size_t kSharedAlone = std::size_t{2} << 20;

std::string bytes_text(std::size_t size) { return "of " + std::to_string(size) + " bytes"; }

// The whole allocation around an address: only the driver's interface tells it. Asked for by name,
// so that nothing links against a driver that may not be there.
cudaError_t allocation_of(const void* address, std::size_t& size) {
  using AddressRange = CUresult (*)(CUdeviceptr*, std::size_t*, CUdeviceptr);
  constexpr unsigned kSince = 12000;  // the interface's version, not the driver's
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error = cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &entry, kSince,
                                                             cudaEnableDefault, &found);
  if (error != cudaSuccess) return error;
  if (found != cudaDriverEntryPointSuccess) return cudaErrorSymbolNotFound;
  CUdeviceptr base = 0;
  const auto place = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(address));
  if (reinterpret_cast<AddressRange>(entry)(&base, &size, place) != CUDA_SUCCESS)
    return cudaErrorInvalidDevicePointer;
  size -= static_cast<std::size_t>(place - base);
  return cudaSuccess;
}

}  // namespace

OwnMemory::OwnMemory(std::shared_ptr<Gpu> gpu, std::size_t size_bytes) : gpu_(std::move(gpu)) {
  gpu_->enter();
  void* address = nullptr;
  if (size_bytes > SIZE_MAX - kSharedAlone) throw DeviceError("a buffer " + bytes_text(size_bytes));
  const std::size_t whole = (size_bytes + kSharedAlone - 1) / kSharedAlone * kSharedAlone;
  gpu_->check(cudaMalloc(&address, whole), "cudaMalloc", bytes_text(whole));
  address_ = static_cast<std::uint8_t*>(address);
  size_bytes_ = size_bytes;
  cudaError_t error = cudaMemsetAsync(address, 0, size_bytes, cudaStreamPerThread);
  if (error == cudaSuccess) error = cudaStreamSynchronize(cudaStreamPerThread);
  if (error == cudaSuccess) return;
  gpu_->free([address] { cudaFree(address); });
  gpu_->check(error, "cudaMemsetAsync", bytes_text(size_bytes));
}

OwnMemory::~OwnMemory() {
  gpu_->free([address = address_] { cudaFree(address); });
}

Bytes OwnMemory::export_handle() const {
  gpu_->enter();
  cudaIpcMemHandle_t handle;
  gpu_->check(cudaIpcGetMemHandle(&handle, address_), "cudaIpcGetMemHandle");
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&handle);
  return {bytes, bytes + sizeof handle};
}

Result<std::unique_ptr<ImportedMemory>> ImportedMemory::open(const std::shared_ptr<Gpu>& gpu,
                                                             ByteView handle) {
  cudaIpcMemHandle_t native;
  KVC_ASSERT(handle.size() == sizeof native);
  std::memcpy(&native, handle.data(), sizeof native);
  gpu->enter();
  const auto refuse = [&](cudaError_t error, const char* call) {
    return Error{Errc::kNotFound, "", gpu->meet(error, call)};
  };
  void* address = nullptr;
  if (const cudaError_t error =
          cudaIpcOpenMemHandle(&address, native, cudaIpcMemLazyEnablePeerAccess);
      error != cudaSuccess)
    return refuse(error, "cudaIpcOpenMemHandle");
  std::unique_ptr<ImportedMemory> memory(new ImportedMemory(gpu));
  memory->address_ = static_cast<std::uint8_t*>(address);
  if (const cudaError_t error = allocation_of(address, memory->size_bytes_); error != cudaSuccess)
    return refuse(error, "cuMemGetAddressRange");
  return memory;
}

ImportedMemory::~ImportedMemory() {
  gpu_->free([address = address_] { cudaIpcCloseMemHandle(address); });
}

PoolMemory::PoolMemory(std::shared_ptr<Gpu> gpu, std::size_t size_bytes, cudaStream_t stream)
    : gpu_(std::move(gpu)), stream_(stream) {
  void* address = nullptr;
  gpu_->check(cudaMallocAsync(&address, size_bytes, stream_), "cudaMallocAsync",
              bytes_text(size_bytes));
  address_ = static_cast<std::uint8_t*>(address);
  size_bytes_ = size_bytes;
}

PoolMemory::~PoolMemory() {
  if (gpu_->try_enter()) cudaFreeAsync(address_, stream_);
}

PinnedRange::PinnedRange(std::shared_ptr<Gpu> gpu, std::span<std::uint8_t> memory)
    : gpu_(std::move(gpu)), memory_(memory) {
  gpu_->enter();
  int node = -1;
  if (cudaDeviceGetAttribute(&node, cudaDevAttrHostNumaId, gpu_->ordinal()) != cudaSuccess) {
    cudaGetLastError();
    node = -1;
  }
  if (node >= 0 && !prefer_numa_node(memory_, node))
    gpu_->health.log("the cache's memory is not bound to the GPU's NUMA node " +
                     std::to_string(node));
  gpu_->check(cudaHostRegister(memory_.data(), memory_.size(), cudaHostRegisterPortable),
              "cudaHostRegister", bytes_text(memory_.size()));
}

PinnedRange::~PinnedRange() {
  // Large memory takes its time, and its owner unmaps it next.
  constexpr std::chrono::seconds kPatience{10};
  gpu_->free([memory = memory_] { cudaHostUnregister(memory.data()); }, kPatience);
}

}  // namespace kvc::cuda
