// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// SessionTable: what END_SESSION needs to mark a request's objects as recently used: the key that
// was looked up and the hashes of its chunks. Nothing is ever answered from here: hashes are made
// anew from the tokens of each message, because a reused request_id may come with other tokens.
//
// Bounded: a session is forgotten after a time to live, and the oldest ones go when all hashes
// together take more than the limit. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/chunk_hash.h"
#include "engine/clock.h"
#include "engine/read_locks.h"
#include "engine/worker_scopes.h"

namespace kvc {

// The number that stands for a request_id in tables: the start of its BLAKE3.
RequestNumber request_number(std::string_view request_id);

struct Session {
  WorkerScopes workers;
  std::vector<ChunkHash> chunks;
};

class SessionTable {
 public:
  explicit SessionTable(Clock clock, std::chrono::seconds ttl = std::chrono::seconds(600),
                        std::size_t bytes_max = std::size_t{64} << 20);

  // What a LOOKUP says about its request; replaces what was there.
  void begin(RequestNumber request, Session session);
  // A longer list of chunks of a session that is there; else nothing.
  void extend(RequestNumber request, const std::vector<ChunkHash>& chunks);
  // Forgets the session and answers it.
  std::optional<Session> end(RequestNumber request);

  std::size_t size() const;

 private:
  struct Entry {
    RequestNumber request;
    TimePoint created;
    Session session;
  };
  void erase(std::list<Entry>::iterator entry);
  void make_room();
  static std::size_t bytes_of(const Session& session);

  const Clock clock_;
  const std::chrono::seconds ttl_;
  const std::size_t bytes_max_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // oldest first
  std::unordered_map<RequestNumber, std::list<Entry>::iterator> by_request_;
  std::size_t bytes_ = 0;
};

}  // namespace kvc
