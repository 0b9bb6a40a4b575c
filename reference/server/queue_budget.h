// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// QueueBudget: bounds the memory of requests that wait for a pool, in all and per client, so that
// one client's flood neither exhausts the server nor uses up the others' share. Any thread.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace kvc::server {

class QueueBudget {
 public:
  QueueBudget(std::size_t client_bytes_max, std::size_t total_bytes_max)
      : client_bytes_max_(client_bytes_max), total_bytes_max_(total_bytes_max) {}

  // Takes `bytes` for `client`, or answers false and takes nothing.
  bool acquire(std::string_view client, std::size_t bytes);
  // Gives back what acquire() took.
  void release(std::string_view client, std::size_t bytes);

  std::size_t total_bytes() const;

 private:
  const std::size_t client_bytes_max_;
  const std::size_t total_bytes_max_;
  mutable std::mutex mutex_;
  std::size_t total_bytes_ = 0;
  std::unordered_map<std::string, std::size_t> client_bytes_;  // no entry: nothing waits
};

}  // namespace kvc::server
