// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// BlendHolds: the read locks that blend lookups took and no retrieve has used yet, by request_id.
// END_SESSION gives them back: an engine need not retrieve all that it was told of (LMCache issue
// 4852: matches that were never retrieved stayed locked).
//
// Bounded: a request's record is forgotten when its locks have expired, and the oldest go when
// there are too many; the locks themselves then end by their time to live. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/clock.h"
#include "engine/object_key.h"
#include "engine/read_locks.h"

namespace kvc {

class BlendHolds {
 public:
  explicit BlendHolds(Clock clock, std::chrono::seconds ttl,
                      std::size_t locks_max = std::size_t{1} << 18);

  using Counts = std::unordered_map<ObjectKey, std::uint64_t, ObjectKeyHasher>;

  // One lock for each key, a key may come twice.
  void add(RequestNumber request, std::span<const ObjectKey> keys);
  // A retrieve has used one lock of each.
  void used(RequestNumber request, std::span<const ObjectKey> keys);
  // What the request still holds; the record is gone then.
  Counts end(RequestNumber request);
  void clear();

  std::size_t size() const;  // keys, of all requests

 private:
  struct Record {
    RequestNumber request;
    TimePoint expires;
    Counts counts;
  };
  using Records = std::list<Record>;  // the one whose locks were taken last is last
  void erase(Records::iterator record);

  const Clock clock_;
  const std::chrono::seconds ttl_;
  const std::size_t locks_max_;
  mutable std::mutex mutex_;
  Records records_;
  std::unordered_map<RequestNumber, Records::iterator> by_request_;
  std::size_t num_keys_ = 0;
};

}  // namespace kvc
