// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The fake GPU's events. A wait is for the record that was asked for last when it was queued,
// whatever is recorded later, on whatever stream. Those for other processes are two counts in
// shared memory, so such an event is to be recorded in the order of one stream. Any thread.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace kvc::fake_gpu {

struct EventCounts {
  std::atomic<std::uint64_t> recorded;
  std::atomic<std::uint64_t> completed;
};

class FakeEvent {
 public:
  FakeEvent(EventCounts* counts, unsigned flags, std::string name)
      : counts_(counts), flags_(flags), name_(std::move(name)) {}
  ~FakeEvent();
  FakeEvent(const FakeEvent&) = delete;
  FakeEvent& operator=(const FakeEvent&) = delete;

  static cudaError_t create(cudaEvent_t* event, unsigned flags);
  static cudaError_t destroy(cudaEvent_t event);
  static cudaError_t export_event(cudaIpcEventHandle_t* handle, cudaEvent_t event);
  static cudaError_t import_event(cudaEvent_t* event, const cudaIpcEventHandle_t& handle);
  static std::shared_ptr<FakeEvent> find(cudaEvent_t event);

  // One record: whether the stream got there.
  class Record {
   public:
    bool complete() const;
    void set_complete();
    void wait() const;  // until it is complete, or a sticky error comes

   private:
    friend class FakeEvent;
    std::shared_ptr<std::atomic<bool>> done_;  // of an event of this process alone
    std::shared_ptr<FakeEvent> shared_;        // else
    std::uint64_t number_ = 0;
  };
  static Record ask(const std::shared_ptr<FakeEvent>& event);   // a new one
  static Record last(const std::shared_ptr<FakeEvent>& event);  // complete where there is none

 private:
  EventCounts* const counts_;
  const unsigned flags_;
  const std::string name_;  // of its shared memory; empty where it has none
  std::mutex mutex_;
  std::shared_ptr<std::atomic<bool>> last_ = std::make_shared<std::atomic<bool>>(true);
};

}  // namespace kvc::fake_gpu
