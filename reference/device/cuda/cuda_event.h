// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// NativeEvent: a cudaEvent_t and its end. CudaEvent: one that processes share, made here or opened.
// An event may end while work still waits for it or will record it: CUDA keeps what it needs.
#pragma once

#include <memory>
#include <utility>

#include "device/cuda/gpu.h"
#include "kvc/device/device.h"
#include "kvc/protocol/result.h"

namespace kvc::cuda {

class NativeEvent {
 public:
  // Throws DeviceError. REQUIRES: the GPU was entered.
  NativeEvent(std::shared_ptr<Gpu> gpu, unsigned flags);
  // Takes one that is open.
  NativeEvent(std::shared_ptr<Gpu> gpu, cudaEvent_t event) : gpu_(std::move(gpu)), event_(event) {}
  ~NativeEvent();
  NativeEvent(const NativeEvent&) = delete;
  NativeEvent& operator=(const NativeEvent&) = delete;

  cudaEvent_t get() const { return event_; }
  Gpu& gpu() const { return *gpu_; }
  const std::shared_ptr<Gpu>& shared_gpu() const { return gpu_; }

 private:
  const std::shared_ptr<Gpu> gpu_;
  cudaEvent_t event_ = nullptr;
};

class CudaEvent final : public Event {
 public:
  CudaEvent(std::shared_ptr<NativeEvent> native, Bytes handle)
      : native_(std::move(native)), handle_(std::move(handle)) {}

  // Throws DeviceError.
  static std::shared_ptr<CudaEvent> create(const std::shared_ptr<Gpu>& gpu);
  static Result<std::shared_ptr<Event>> open(const std::shared_ptr<Gpu>& gpu, ByteView handle);

  Bytes ipc_handle() const override { return handle_; }
  bool complete() const override;
  void synchronize() const override;
  bool synchronize_for(std::chrono::milliseconds limit) const override;

  const std::shared_ptr<NativeEvent>& native() const { return native_; }

 private:
  const std::shared_ptr<NativeEvent> native_;
  const Bytes handle_;
};

}  // namespace kvc::cuda
