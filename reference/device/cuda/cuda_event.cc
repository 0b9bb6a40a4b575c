// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/cuda_event.h"

#include <cstring>
#include <string>
#include <thread>

namespace kvc::cuda {
namespace {

// CUDA has no wait with a limit, so waiting with one is looking, with pauses.
constexpr std::chrono::microseconds kLook{100};

}  // namespace

NativeEvent::NativeEvent(std::shared_ptr<Gpu> gpu, unsigned flags) : gpu_(std::move(gpu)) {
  gpu_->check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreateWithFlags");
}

NativeEvent::~NativeEvent() {
  if (gpu_->try_enter()) cudaEventDestroy(event_);
}

std::shared_ptr<CudaEvent> CudaEvent::create(const std::shared_ptr<Gpu>& gpu) {
  gpu->enter();
  auto native = std::make_shared<NativeEvent>(gpu, cudaEventInterprocess | cudaEventDisableTiming);
  cudaIpcEventHandle_t handle;
  gpu->check(cudaIpcGetEventHandle(&handle, native->get()), "cudaIpcGetEventHandle");
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&handle);
  return std::make_shared<CudaEvent>(std::move(native), Bytes(bytes, bytes + sizeof handle));
}

Result<std::shared_ptr<Event>> CudaEvent::open(const std::shared_ptr<Gpu>& gpu, ByteView handle) {
  cudaIpcEventHandle_t native;
  if (handle.size() != sizeof native)
    return Error{Errc::kBadValue, "",
                 "a CUDA event handle has 64 bytes, got " + std::to_string(handle.size())};
  std::memcpy(&native, handle.data(), sizeof native);
  gpu->enter();
  cudaEvent_t event = nullptr;
  const cudaError_t error = cudaIpcOpenEventHandle(&event, native);
  if (error != cudaSuccess)
    return Error{Errc::kNotFound, "", gpu->meet(error, "cudaIpcOpenEventHandle")};
  return std::shared_ptr<Event>(
      std::make_shared<CudaEvent>(std::make_shared<NativeEvent>(gpu, event), to_bytes(handle)));
}

bool CudaEvent::complete() const {
  Gpu& gpu = native_->gpu();
  gpu.enter();
  const cudaError_t state = cudaEventQuery(native_->get());
  if (state == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  gpu.check(state, "cudaEventQuery");
  return true;
}

void CudaEvent::synchronize() const {
  Gpu& gpu = native_->gpu();
  gpu.enter();
  gpu.check(cudaEventSynchronize(native_->get()), "cudaEventSynchronize");
}

bool CudaEvent::synchronize_for(std::chrono::milliseconds limit) const {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!complete()) {
    if (std::chrono::steady_clock::now() >= until) return complete();
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

}  // namespace kvc::cuda
