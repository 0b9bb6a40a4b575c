// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/watch/lock_watch.h"

#include <algorithm>

namespace kvc::conformance {
namespace {

// A prompt has less; what says more is a lie that must not cost memory here.
constexpr std::uint64_t kChunksMax = 1 << 20;

std::int64_t small(const Int& value, std::int64_t otherwise) {
  const std::optional<std::int64_t> number = value.as_i64();
  return number && *number >= 0 && *number < (1 << 20) ? *number : otherwise;
}

// Locks that LOOKUP takes of one chunk's objects, all workers together.
std::int64_t locks_a_chunk_of(const Key& key, const Int& tp_size) {
  const std::int64_t world = small(key.world_size, 1);
  const std::int64_t ranks = small(tp_size, 1);
  const std::int64_t workers = key.worker_id ? 1 : world;
  return workers * (ranks > world ? ranks : 1);
}

}  // namespace

void LockWatch::looked_up(const Key& key, const Int& tp_size) {
  Request& request = requests_[key.request_id];
  request.locks_a_chunk = locks_a_chunk_of(key, tp_size);
}

void LockWatch::hit(const std::string& request_id, const Int& num_chunks) {
  const auto found = requests_.find(request_id);
  const std::optional<std::uint64_t> count = num_chunks.as_u64();
  if (found == requests_.end() || !count) return;
  Request& request = found->second;
  // QUERY_PREFETCH_LOOKUP_HITS may say the same before STATUS does.
  if (!request.locks.empty() || *count == 0) return;
  request.locks.assign(std::min(*count, kChunksMax), request.locks_a_chunk);
}

void LockWatch::give_back(const Key& key, std::int64_t count) {
  const auto found = requests_.find(key.request_id);
  const std::optional<std::uint64_t> start = key.start.as_u64();
  const std::optional<std::uint64_t> end = key.end.as_u64();
  if (found == requests_.end() || chunk_size_ == 0 || !start || !end) return;
  std::vector<std::int64_t>& locks = found->second.locks;
  const std::uint64_t last = std::min<std::uint64_t>(*end / chunk_size_, locks.size());
  for (std::uint64_t i = *start / chunk_size_; i < last; ++i)
    locks[i] = std::max<std::int64_t>(locks[i] - count, 0);
}

void LockWatch::retrieved(const Key& key) { give_back(key, 1); }

void LockWatch::freed(const Key& key, const Int& tp_size) {
  give_back(key, locks_a_chunk_of(key, tp_size));
}

HeldLocks LockWatch::held_by(const std::string& request_id, const Request& request) {
  const auto held = std::count_if(request.locks.begin(), request.locks.end(),
                                  [](std::int64_t count) { return count > 0; });
  return {request_id, static_cast<std::size_t>(held), request.locks.size()};
}

std::optional<HeldLocks> LockWatch::ended(const std::string& request_id) {
  const auto found = requests_.find(request_id);
  if (found == requests_.end()) return std::nullopt;
  const HeldLocks held = held_by(request_id, found->second);
  requests_.erase(found);
  if (held.num_chunks == 0) return std::nullopt;
  return held;
}

std::vector<HeldLocks> LockWatch::held() const {
  std::vector<HeldLocks> out;
  for (const auto& [id, request] : requests_) {
    HeldLocks held = held_by(id, request);
    if (held.num_chunks > 0) out.push_back(std::move(held));
  }
  return out;
}

}  // namespace kvc::conformance
