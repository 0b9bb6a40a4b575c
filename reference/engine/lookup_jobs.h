// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// LookupJobs: the answers of LOOKUPs, waiting under their request_id until QUERY_PREFETCH_STATUS
// takes them. Bounded in number and time: a client that looks up and never asks leaves nothing
// behind for long. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "engine/clock.h"
#include "engine/read_locks.h"

namespace kvc {

class LookupJobs {
 public:
  explicit LookupJobs(Clock clock, std::chrono::seconds ttl = std::chrono::seconds(600),
                      std::size_t jobs_max = std::size_t{1} << 18);

  // A new answer replaces one that nobody took.
  void put(RequestNumber request, std::uint64_t num_chunks);
  // The answer, left where it is.
  std::optional<std::uint64_t> peek(RequestNumber request) const;
  // The answer, once.
  std::optional<std::uint64_t> take(RequestNumber request);

  std::size_t size() const;

 private:
  struct Job {
    RequestNumber request;
    std::uint64_t num_chunks;
    TimePoint created;
  };
  void forget_old();

  const Clock clock_;
  const std::chrono::seconds ttl_;
  const std::size_t jobs_max_;
  mutable std::mutex mutex_;
  std::list<Job> jobs_;  // oldest first
  std::unordered_map<RequestNumber, std::list<Job>::iterator> by_request_;
};

}  // namespace kvc
