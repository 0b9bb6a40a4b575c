// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/blend_holds.h"

namespace kvc {

BlendHolds::BlendHolds(Clock clock, std::chrono::seconds ttl, std::size_t locks_max)
    : clock_(std::move(clock)), ttl_(ttl), locks_max_(locks_max) {}

void BlendHolds::add(RequestNumber request, std::span<const ObjectKey> keys) {
  if (keys.empty()) return;
  const std::lock_guard lock(mutex_);
  const TimePoint now = clock_();
  while (!records_.empty() && records_.front().expires <= now) erase(records_.begin());
  auto known = by_request_.find(request);
  if (known == by_request_.end()) {
    records_.push_back(Record{request, {}, {}});
    known = by_request_.emplace(request, std::prev(records_.end())).first;
  } else {
    records_.splice(records_.end(), records_, known->second);
  }
  Record& record = *known->second;
  record.expires = now + ttl_;
  num_keys_ -= record.counts.size();
  for (const ObjectKey& key : keys) ++record.counts[key];
  num_keys_ += record.counts.size();
  while (num_keys_ > locks_max_) erase(records_.begin());
}

void BlendHolds::used(RequestNumber request, std::span<const ObjectKey> keys) {
  const std::lock_guard lock(mutex_);
  const auto known = by_request_.find(request);
  if (known == by_request_.end()) return;
  Counts& counts = known->second->counts;
  for (const ObjectKey& key : keys) {
    const auto count = counts.find(key);
    if (count == counts.end() || --count->second > 0) continue;
    counts.erase(count);
    --num_keys_;
  }
  if (counts.empty()) erase(known->second);
}

BlendHolds::Counts BlendHolds::end(RequestNumber request) {
  const std::lock_guard lock(mutex_);
  const auto known = by_request_.find(request);
  if (known == by_request_.end()) return {};
  Counts counts = known->second->counts;
  erase(known->second);
  return counts;
}

void BlendHolds::clear() {
  const std::lock_guard lock(mutex_);
  records_.clear();
  by_request_.clear();
  num_keys_ = 0;
}

std::size_t BlendHolds::size() const {
  const std::lock_guard lock(mutex_);
  return num_keys_;
}

void BlendHolds::erase(Records::iterator record) {
  num_keys_ -= record->counts.size();
  by_request_.erase(record->request);
  records_.erase(record);
}

}  // namespace kvc
