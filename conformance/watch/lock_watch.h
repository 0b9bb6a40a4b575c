// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// LockWatch: the read locks that a client has taken and not given back, as far as requests and
// replies show them: LOOKUP takes one of each chunk that it hits (tp_size of them where all ranks
// read one object), for each worker; a RETRIEVE that answers True and FREE_LOOKUP_LOCKS give them
// back; END_SESSION does not. Counts, not times: how long a lock lives is the server's affair.
// One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kvc/protocol/values.h"

namespace kvc::conformance {

struct HeldLocks {
  std::string request_id;
  std::size_t num_chunks = 0;  // of the request's chunks, with a lock left
  std::size_t of_chunks = 0;   // that LOOKUP had locked
};

class LockWatch {
 public:
  void set_chunk_size(std::uint64_t tokens) { chunk_size_ = tokens; }
  bool knows_chunk_size() const { return chunk_size_ > 0; }

  void looked_up(const Key& key, const Int& tp_size);
  // QUERY_PREFETCH_STATUS or QUERY_PREFETCH_LOOKUP_HITS said how many chunks were hit.
  void hit(const std::string& request_id, const Int& num_chunks);
  void retrieved(const Key& key);
  void freed(const Key& key, const Int& tp_size);
  // What the request still holds; then it is forgotten.
  std::optional<HeldLocks> ended(const std::string& request_id);
  void cleared() { requests_.clear(); }

  std::vector<HeldLocks> held() const;

 private:
  struct Request {
    std::int64_t locks_a_chunk = 1;
    std::vector<std::int64_t> locks;  // of each chunk; empty until the hits are known
  };

  void give_back(const Key& key, std::int64_t count);
  static HeldLocks held_by(const std::string& request_id, const Request& request);

  std::uint64_t chunk_size_ = 0;
  std::map<std::string, Request> requests_;
};

}  // namespace kvc::conformance
