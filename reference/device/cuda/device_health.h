// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// DeviceHealth: whether a GPU can still be used. The first error after which CUDA cannot go on ends
// it: logged once, told to everyone who has work queued, and the reason of every later failure.
// Any thread; what is told runs on the thread that met the error, without a lock held.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace kvc::cuda {

class DeviceHealth {
 public:
  explicit DeviceHealth(std::function<void(const std::string&)> log);

  // Only the first call counts.
  void end(const std::string& reason);
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  std::string reason() const;  // empty while all is well
  void log(const std::string& text) const { log_(text); }

  // Calls `told` when the device ends, and at once if it has. A call of remove() returns when
  // `told` does not run and never will. REQUIRES: `told` calls nothing of this.
  using Ticket = std::uint64_t;
  Ticket add(std::function<void()> told);
  void remove(Ticket ticket);

 private:
  const std::function<void(const std::string&)> log_;
  std::atomic<bool> ended_{false};
  mutable std::mutex reason_mutex_;
  std::string reason_;
  std::mutex told_mutex_;  // held while they are told: so remove() waits for that
  std::map<Ticket, std::function<void()>> told_;
  Ticket next_ticket_ = 0;
};

}  // namespace kvc::cuda
