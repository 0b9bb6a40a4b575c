// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ReadLocks: the read locks on one object: who holds how many, until when.
//
// A lock belongs to the request (request_id) whose LOOKUP took it. The 0.4.5 server only counts,
// so a request that frees more than it took steals the locks of another, whose data is then evicted
// in mid-read (LMCache issues 4523, 4524). The rules here:
//   FREE     releases the request's own locks, never more than it holds, and nobody else's.
//   RETRIEVE takes one of the request's own locks. A request that never looked this object up may
//            take one that was taken under another request_id (the oldest), since 0.4.5 serves a
//            client that looks up under one name and retrieves under another. A request that has
//            used up its own gets nothing: a second RETRIEVE needs a second LOOKUP.
// A request's record stays when its count is 0, as long as others hold locks: it is what tells the
// two cases apart.
//
// Locks expire: a LOOKUP gives all locks that its request holds on the object a new time to live.
// Not thread-safe: the object store locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "engine/clock.h"

namespace kvc {

// Stands for a request_id; see request_number().
using RequestNumber = std::uint64_t;

class ReadLocks {
 public:
  // Requests on record for one object. What comes above shares one record, which all of them may
  // take from: memory stays bounded, and only the protection of one from the other is lost.
  static constexpr std::size_t kHoldersMax = 1024;

  void add(RequestNumber request, std::uint64_t count, TimePoint expires, TimePoint now);

  // How often take() would succeed.
  std::uint64_t num_takable(RequestNumber request, TimePoint now) const;
  // Takes one lock, by the rule for RETRIEVE; false when there is none to take.
  bool take(RequestNumber request, TimePoint now);
  // Releases up to `count` locks, by the rule for FREE.
  void release(RequestNumber request, std::uint64_t count, TimePoint now);

  bool locked(TimePoint now) const;
  std::uint64_t count(TimePoint now) const;  // of all requests

 private:
  struct Holder {
    RequestNumber request = 0;
    std::uint64_t count = 0;
    TimePoint expires;

    bool live(TimePoint now) const { return count > 0 && now < expires; }
  };

  // Index into holders_ of the record to take from; kOverflow; or nothing.
  std::optional<std::size_t> index_to_take_from(RequestNumber request, TimePoint now) const;
  // Drops records that no longer tell anything.
  void forget_expired(TimePoint now);

  static constexpr std::size_t kOverflow = std::numeric_limits<std::size_t>::max();

  std::vector<Holder> holders_;  // in the order in which the requests came
  Holder overflow_;
};

}  // namespace kvc
