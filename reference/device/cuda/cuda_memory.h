// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Memory of a GPU, each kind with its own end: allocated here and exported, opened from another
// process, or taken from the stream-ordered pool; and host memory that the GPU reads and writes
// itself. Destructors do nothing once the device has ended: the process's end frees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "device/cuda/gpu.h"
#include "kvc/device/device.h"
#include "kvc/protocol/result.h"

namespace kvc::cuda {

// What a Buffer holds on to.
class GpuMemory {
 public:
  virtual ~GpuMemory() = default;
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  std::uint8_t* address() const { return address_; }
  std::size_t size_bytes() const { return size_bytes_; }

 protected:
  GpuMemory() = default;
  std::uint8_t* address_ = nullptr;
  std::size_t size_bytes_ = 0;
};

// cudaMalloc: what can be exported. Zeroed, as host buffers are. Of whole 2 MiB, as smaller ones
// share their memory with others, which would then be exported with it (CUDA programming guide,
// interprocess communication). Throws DeviceError.
class OwnMemory final : public GpuMemory {
 public:
  OwnMemory(std::shared_ptr<Gpu> gpu, std::size_t size_bytes);
  ~OwnMemory() override;
  Bytes export_handle() const;

 private:
  const std::shared_ptr<Gpu> gpu_;
};

// Another process's allocation, all of it.
class ImportedMemory final : public GpuMemory {
 public:
  // REQUIRES: 64 bytes. What fails is the peer's doing: an Error.
  static Result<std::unique_ptr<ImportedMemory>> open(const std::shared_ptr<Gpu>& gpu,
                                                      ByteView handle);
  ~ImportedMemory() override;

 private:
  explicit ImportedMemory(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  const std::shared_ptr<Gpu> gpu_;
};

// From the GPU's pool, in the order of a stream, which must outlive it: no call here waits for the
// GPU. Throws DeviceError.
class PoolMemory final : public GpuMemory {
 public:
  PoolMemory(std::shared_ptr<Gpu> gpu, std::size_t size_bytes, cudaStream_t stream);
  ~PoolMemory() override;

 private:
  const std::shared_ptr<Gpu> gpu_;
  const cudaStream_t stream_;
};

// One word of pinned host memory that kernels can read.
class SharedWord {
 public:
  explicit SharedWord(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)), word_(gpu_->take_word()) {}
  ~SharedWord() { gpu_->give_word(word_); }
  SharedWord(const SharedWord&) = delete;
  SharedWord& operator=(const SharedWord&) = delete;

  void set(std::uint32_t value) { *static_cast<volatile std::uint32_t*>(word_.host) = value; }
  const std::uint32_t* on_gpu() const { return word_.on_gpu; }

 private:
  const std::shared_ptr<Gpu> gpu_;
  const Gpu::Word word_;
};

// Memory of the caller's, pinned until this is gone, so that copies cross the bus at its speed and
// without a stop. Its pages are all taken now, near the GPU where the machine has several nodes.
class PinnedRange {
 public:
  PinnedRange(std::shared_ptr<Gpu> gpu, std::span<std::uint8_t> memory);
  ~PinnedRange();
  PinnedRange(const PinnedRange&) = delete;
  PinnedRange& operator=(const PinnedRange&) = delete;

 private:
  const std::shared_ptr<Gpu> gpu_;
  const std::span<std::uint8_t> memory_;
};

}  // namespace kvc::cuda
