// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/read_locks.h"

#include <algorithm>

namespace kvc {

void ReadLocks::add(RequestNumber request, std::uint64_t count, TimePoint expires, TimePoint now) {
  forget_expired(now);
  for (Holder& holder : holders_) {
    if (holder.request != request) continue;
    holder.count += count;
    holder.expires = expires;
    return;
  }
  if (holders_.size() < kHoldersMax) {
    holders_.push_back(Holder{request, count, expires});
    return;
  }
  if (!overflow_.live(now)) overflow_.count = 0;
  overflow_.count += count;
  overflow_.expires = expires;
}

std::uint64_t ReadLocks::num_takable(RequestNumber request, TimePoint now) const {
  for (const Holder& holder : holders_)
    if (holder.request == request && now < holder.expires) return holder.count;
  return count(now);  // not on record: whatever there is
}

bool ReadLocks::take(RequestNumber request, TimePoint now) {
  const std::optional<std::size_t> index = index_to_take_from(request, now);
  if (!index) return false;
  --(*index == kOverflow ? overflow_ : holders_[*index]).count;
  forget_expired(now);
  return true;
}

void ReadLocks::release(RequestNumber request, std::uint64_t count, TimePoint now) {
  for (Holder& holder : holders_) {
    if (holder.request != request || now >= holder.expires) continue;
    holder.count -= std::min(holder.count, count);
    forget_expired(now);
    return;
  }
  if (overflow_.live(now)) overflow_.count -= std::min(overflow_.count, count);
}

bool ReadLocks::locked(TimePoint now) const {
  return overflow_.live(now) || std::any_of(holders_.begin(), holders_.end(),
                                            [now](const Holder& h) { return h.live(now); });
}

std::uint64_t ReadLocks::count(TimePoint now) const {
  std::uint64_t sum = overflow_.live(now) ? overflow_.count : 0;
  for (const Holder& holder : holders_)
    if (holder.live(now)) sum += holder.count;
  return sum;
}

std::optional<std::size_t> ReadLocks::index_to_take_from(RequestNumber request,
                                                         TimePoint now) const {
  for (std::size_t i = 0; i < holders_.size(); ++i) {
    if (holders_[i].request != request || now >= holders_[i].expires) continue;
    if (holders_[i].count > 0) return i;
    return std::nullopt;  // on record: its own or nothing
  }
  if (overflow_.live(now)) return kOverflow;
  for (std::size_t i = 0; i < holders_.size(); ++i)
    if (holders_[i].live(now)) return i;
  return std::nullopt;
}

void ReadLocks::forget_expired(TimePoint now) {
  if (!locked(now)) {
    holders_.clear();
    overflow_ = Holder{};
    return;
  }
  std::erase_if(holders_, [now](const Holder& holder) { return now >= holder.expires; });
}

}  // namespace kvc
