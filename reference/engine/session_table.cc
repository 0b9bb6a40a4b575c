// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/session_table.h"

#include <cstring>
#include <iterator>
#include <utility>

namespace kvc {

RequestNumber request_number(std::string_view request_id) {
  const auto digest = short_digest(as_bytes(request_id));
  RequestNumber number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number;
}

SessionTable::SessionTable(Clock clock, std::chrono::seconds ttl, std::size_t bytes_max)
    : clock_(std::move(clock)), ttl_(ttl), bytes_max_(bytes_max) {}

void SessionTable::begin(RequestNumber request, Session session) {
  const std::lock_guard lock(mutex_);
  if (const auto known = by_request_.find(request); known != by_request_.end())
    erase(known->second);
  bytes_ += bytes_of(session);
  entries_.push_back(Entry{request, clock_(), std::move(session)});
  by_request_[request] = std::prev(entries_.end());
  make_room();
}

void SessionTable::extend(RequestNumber request, const std::vector<ChunkHash>& chunks) {
  const std::lock_guard lock(mutex_);
  const auto known = by_request_.find(request);
  if (known == by_request_.end()) return;
  Session& session = known->second->session;
  if (chunks.size() <= session.chunks.size()) return;
  bytes_ -= bytes_of(session);
  session.chunks = chunks;
  bytes_ += bytes_of(session);
  make_room();
}

std::optional<Session> SessionTable::end(RequestNumber request) {
  const std::lock_guard lock(mutex_);
  make_room();
  const auto known = by_request_.find(request);
  if (known == by_request_.end()) return std::nullopt;
  bytes_ -= bytes_of(known->second->session);
  std::optional<Session> session(std::move(known->second->session));
  entries_.erase(known->second);
  by_request_.erase(known);
  return session;
}

std::size_t SessionTable::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void SessionTable::erase(std::list<Entry>::iterator entry) {
  bytes_ -= bytes_of(entry->session);
  by_request_.erase(entry->request);
  entries_.erase(entry);
}

void SessionTable::make_room() {
  const TimePoint now = clock_();
  while (!entries_.empty() && (bytes_ > bytes_max_ || now - entries_.front().created >= ttl_))
    erase(entries_.begin());
}

std::size_t SessionTable::bytes_of(const Session& session) {
  constexpr std::size_t kOverhead = 512;  // nodes, scopes and names
  return session.chunks.size() * sizeof(ChunkHash) + kOverhead;
}

}  // namespace kvc
