// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/event_watch.h"

#include <cuda.h>

#include <iterator>
#include <utility>

namespace kvc::cuda {
namespace {

using Clock = std::chrono::steady_clock;

// CUDA has no call that waits for the first of several events, so they are looked at, with pauses:
// short beside any copy.
constexpr std::chrono::microseconds kLook{50};

// By name, as in cuda_memory.cc: nothing here links against the driver.
using StreamWait = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
StreamWait find_stream_wait() {
  constexpr unsigned kSince = 12000;  // the interface's version, not the driver's
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error = cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &entry, kSince,
                                                             cudaEnableDefault, &found);
  if (error != cudaSuccess) cudaGetLastError();
  return error == cudaSuccess && found == cudaDriverEntryPointSuccess
             ? reinterpret_cast<StreamWait>(entry)
             : nullptr;
}

}  // namespace

EventWatch::EventWatch(std::shared_ptr<Gpu> gpu)
    : gpu_(std::move(gpu)), thread_([this] { run(); }) {}

EventWatch::~EventWatch() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool EventWatch::add(cudaStream_t stream, Wait wait) {
  static const StreamWait stream_wait = find_stream_wait();
  if (stream_wait == nullptr) return false;
  const auto gate = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(wait.gate->on_gpu()));
  const CUresult result = stream_wait(stream, gate, 1, CU_STREAM_WAIT_VALUE_GEQ);
  if (result == CUDA_ERROR_NOT_SUPPORTED) return false;
  if (result != CUDA_SUCCESS)  // the runtime's errors have the driver's numbers
    gpu_->check(static_cast<cudaError_t>(result), "cuStreamWaitValue32", "for a client's event");
  const std::lock_guard lock(mutex_);
  added_.push_back(std::move(wait));
  changed_.notify_all();
  return true;
}

bool EventWatch::has_ended(const Wait& wait) {
  if (wait.abandoned->load() || Clock::now() > wait.until || !gpu_->try_enter()) {
    wait.unit->failed.store(true);
    return true;
  }
  const cudaError_t state =
      cudaEventQuery(static_cast<const CudaEvent&>(*wait.event).native()->get());
  if (state == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  if (state != cudaSuccess) {
    gpu_->health.log("a client's event cannot be waited for: " +
                     gpu_->meet(state, "cudaEventQuery"));
    wait.unit->failed.store(true);
  }
  return true;
}

void EventWatch::run() {
  std::vector<Wait> waits;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (waits.empty())
      changed_.wait(lock, [this] { return ended_ || !added_.empty(); });
    else
      changed_.wait_for(lock, kLook, [this] { return ended_ || !added_.empty(); });
    std::move(added_.begin(), added_.end(), std::back_inserter(waits));
    added_.clear();
    const bool last = ended_;
    lock.unlock();
    std::erase_if(waits, [&](const Wait& wait) {
      if (last && !has_ended(wait)) wait.unit->failed.store(true);
      if (!last && !has_ended(wait)) return false;
      wait.gate->set(1);
      return true;
    });
    if (last) return;
    lock.lock();
  }
}

}  // namespace kvc::cuda
