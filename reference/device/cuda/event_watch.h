// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// EventWatch: waits for clients' events that the GPU itself must not wait for: CUDA cannot take
// back cudaStreamWaitEvent, so a client that died would hold a stream, and whatever CUDA does only
// when all streams are through (to free memory, to close another process's), for ever. Here a
// stream waits for a word in memory, and a thread sets it: when the event is complete, and also
// when the wait has failed, because it took longer than its limit or was abandoned. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "device/cuda/cuda_event.h"
#include "device/cuda/cuda_memory.h"
#include "device/cuda/host_work.h"

namespace kvc::cuda {

class EventWatch {
 public:
  struct Wait {
    std::shared_ptr<Event> event;  // a CudaEvent
    std::chrono::steady_clock::time_point until;
    std::shared_ptr<const std::atomic<bool>> abandoned;
    std::shared_ptr<WorkUnit> unit;    // of which a failed wait makes a failed one
    std::shared_ptr<SharedWord> gate;  // 0 until the wait has ended
  };

  explicit EventWatch(std::shared_ptr<Gpu> gpu);
  ~EventWatch();  // gives up all waits
  EventWatch(const EventWatch&) = delete;
  EventWatch& operator=(const EventWatch&) = delete;

  // Makes `stream` wait for the gate, and watches the event. False: this driver has no such wait,
  // and nothing was done. Throws DeviceError. REQUIRES: the GPU was entered.
  bool add(cudaStream_t stream, Wait wait);

 private:
  void run();
  bool has_ended(const Wait& wait);  // and whether it failed is in its unit

  const std::shared_ptr<Gpu> gpu_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Wait> added_;
  bool ended_ = false;
  std::thread thread_;  // last: it uses all above
};

}  // namespace kvc::cuda
