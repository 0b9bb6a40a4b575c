// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// PassedQueue: hands batches of messages from the proxy's thread to the one that judges them. The
// proxy waits when the judge is kMessagesMax behind, so that nothing is left out of the recording.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "conformance/watch/proxy.h"

namespace kvc::conformance {

class PassedQueue {
 public:
  static constexpr std::size_t kMessagesMax = 200'000;

  void give(std::vector<Passed> batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < kMessagesMax || closed_; });
    if (waiting_.empty()) {
      waiting_ = std::move(batch);
    } else {
      for (Passed& passed : batch) waiting_.push_back(std::move(passed));
    }
    changed_.notify_all();
  }

  // All that waits; waits for some, at most so long.
  std::vector<Passed> take(std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, wait, [this] { return !waiting_.empty() || closed_; });
    changed_.notify_all();
    return std::exchange(waiting_, {});
  }

  // No more is given; what waits can still be taken.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  bool closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Passed> waiting_;
  bool closed_ = false;
};

}  // namespace kvc::conformance
