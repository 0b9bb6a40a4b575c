// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// HostStream: an ordered queue of work with a thread of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "device/host/host_event.h"
#include "kvc/device/device.h"

namespace kvc {

class HostStream final : public Stream {
 public:
  explicit HostStream(const StreamOptions& options);
  ~HostStream() override;

  using Stream::host_function;
  void begin_unit() override;
  void wait(std::shared_ptr<Event> event) override;
  void record(std::shared_ptr<Event> event) override;
  void copy(std::shared_ptr<const BlockSpace> space, std::vector<ChunkCopy> chunks) override;
  void host_function(std::function<void(bool completed)> function) override;
  void synchronize() override;
  bool idle() const override;
  void abandon() override;

 private:
  // Work is told whether its unit is whole so far, and answers whether it still is.
  using Work = std::function<bool(bool whole)>;

  // Queues what `make_work` answers, called under the lock.
  template <class MakeWork>
  void push(MakeWork make_work);
  void run();

  const std::chrono::milliseconds wait_limit_;
  std::atomic<bool> abandoned_{false};

  mutable std::mutex mutex_;
  std::condition_variable queued_;  // work, or the end
  std::condition_variable ran_;
  std::deque<Work> work_;
  std::uint64_t num_queued_ = 0;
  std::uint64_t num_run_ = 0;
  bool ended_ = false;

  std::thread thread_;  // last: it uses all above
};

}  // namespace kvc
