// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/queue_budget.h"

#include "kvc/protocol/assert.h"

namespace kvc::server {

bool QueueBudget::acquire(std::string_view client, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > total_bytes_max_ - total_bytes_) return false;
  const auto [entry, is_new] = client_bytes_.try_emplace(std::string(client), 0);
  if (bytes > client_bytes_max_ - entry->second) {
    if (is_new) client_bytes_.erase(entry);
    return false;
  }
  entry->second += bytes;
  total_bytes_ += bytes;
  return true;
}

void QueueBudget::release(std::string_view client, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto entry = client_bytes_.find(std::string(client));
  KVC_ASSERT(entry != client_bytes_.end() && entry->second >= bytes && total_bytes_ >= bytes);
  total_bytes_ -= bytes;
  entry->second -= bytes;
  if (entry->second == 0) client_bytes_.erase(entry);
}

std::size_t QueueBudget::total_bytes() const {
  const std::lock_guard lock(mutex_);
  return total_bytes_;
}

}  // namespace kvc::server
