// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ThreadPool: where BLOCKING handlers run. A normal pool gives a job to any free thread; an
// affinity pool gives all jobs of one affinity key to the same thread, in the order of submit().
// Destruction waits for the jobs that are running and drops those still queued. submit() may be
// called from any thread. Jobs must not throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace kvc::server {

class ThreadPool {
 public:
  using Job = std::function<void()>;
  virtual ~ThreadPool() = default;
  virtual void submit(std::uint64_t affinity_key, Job job) = 0;
};

// REQUIRES: max_workers > 0.
std::unique_ptr<ThreadPool> create_normal_pool(std::size_t max_workers);
std::unique_ptr<ThreadPool> create_affinity_pool(std::size_t max_workers);

}  // namespace kvc::server
