// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/lookup_jobs.h"

#include <iterator>
#include <utility>

namespace kvc {

LookupJobs::LookupJobs(Clock clock, std::chrono::seconds ttl, std::size_t jobs_max)
    : clock_(std::move(clock)), ttl_(ttl), jobs_max_(jobs_max) {}

void LookupJobs::put(RequestNumber request, std::uint64_t num_chunks) {
  const std::lock_guard lock(mutex_);
  if (const auto known = by_request_.find(request); known != by_request_.end())
    jobs_.erase(known->second);
  jobs_.push_back(Job{request, num_chunks, clock_()});
  by_request_[request] = std::prev(jobs_.end());
  forget_old();
}

std::optional<std::uint64_t> LookupJobs::peek(RequestNumber request) const {
  const std::lock_guard lock(mutex_);
  const auto known = by_request_.find(request);
  if (known == by_request_.end() || clock_() - known->second->created >= ttl_) return std::nullopt;
  return known->second->num_chunks;
}

std::optional<std::uint64_t> LookupJobs::take(RequestNumber request) {
  const std::lock_guard lock(mutex_);
  forget_old();
  const auto known = by_request_.find(request);
  if (known == by_request_.end()) return std::nullopt;
  const std::uint64_t num_chunks = known->second->num_chunks;
  jobs_.erase(known->second);
  by_request_.erase(known);
  return num_chunks;
}

std::size_t LookupJobs::size() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

void LookupJobs::forget_old() {
  const TimePoint now = clock_();
  while (!jobs_.empty() && (jobs_.size() > jobs_max_ || now - jobs_.front().created >= ttl_)) {
    by_request_.erase(jobs_.front().request);
    jobs_.pop_front();
  }
}

}  // namespace kvc
