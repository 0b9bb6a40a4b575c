// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// CudaBuffer: GPU memory as a Buffer, made here or opened. Reading and writing it from the host is
// for exporters and tests: each call waits for the GPU.
#pragma once

#include <memory>
#include <utility>

#include "device/cuda/cuda_memory.h"
#include "device/remote_memory.h"
#include "kvc/device/device.h"

namespace kvc::cuda {

class CudaBuffer final : public Buffer, public RemoteMemory {
 public:
  CudaBuffer(std::shared_ptr<Gpu> gpu, std::shared_ptr<GpuMemory> memory, Bytes handle)
      : gpu_(std::move(gpu)), memory_(std::move(memory)), handle_(std::move(handle)) {}

  std::size_t size_bytes() const override { return memory_->size_bytes(); }
  std::uint8_t* address() const override { return memory_->address(); }
  Bytes ipc_handle() const override { return handle_; }

  void read(std::size_t offset, std::span<std::uint8_t> out) const override {
    copy(out.data(), address() + offset, out.size(), cudaMemcpyDeviceToHost);
  }
  void write(std::size_t offset, ByteView bytes) override {
    copy(address() + offset, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
  }

 private:
  void copy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) const {
    gpu_->enter();
    gpu_->check(cudaMemcpyAsync(to, from, size, kind, cudaStreamPerThread), "cudaMemcpyAsync");
    gpu_->check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
  }

  const std::shared_ptr<Gpu> gpu_;
  const std::shared_ptr<GpuMemory> memory_;
  const Bytes handle_;
};

}  // namespace kvc::cuda
