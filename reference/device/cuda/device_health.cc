// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/device_health.h"

#include <utility>

namespace kvc::cuda {

DeviceHealth::DeviceHealth(std::function<void(const std::string&)> log) : log_(std::move(log)) {}

void DeviceHealth::end(const std::string& reason) {
  {
    const std::lock_guard lock(reason_mutex_);
    if (ended()) return;
    reason_ = reason;
    ended_.store(true, std::memory_order_release);
  }
  log_("the CUDA device has ended, and every request that needs it fails from now on: " + reason);
  const std::lock_guard lock(told_mutex_);
  for (const auto& [ticket, told] : told_) told();
}

std::string DeviceHealth::reason() const {
  const std::lock_guard lock(reason_mutex_);
  return reason_;
}

DeviceHealth::Ticket DeviceHealth::add(std::function<void()> told) {
  const std::lock_guard lock(told_mutex_);
  if (ended()) told();
  told_.emplace(next_ticket_, std::move(told));
  return next_ticket_++;
}

void DeviceHealth::remove(Ticket ticket) {
  const std::lock_guard lock(told_mutex_);
  told_.erase(ticket);
}

}  // namespace kvc::cuda
