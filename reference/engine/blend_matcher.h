// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// BlendMatcher: finds stored chunks at any position of a query, for one (model, world_size, salt).
//
// A rolling hash proposes, tokens decide. The hash is a polynomial modulo 2^61-1 with a secret
// random base, so nobody can choose tokens that collide; a proposal becomes a match only if all its
// tokens equal the stored ones. A query costs one multiplication chain and one look into a small
// filter per token, whatever is stored; self-similar queries cost no more, since a match moves on
// by a chunk.
//
// Memory: the tokens are kept, 4 bytes each (1 KiB for a chunk of 256), once per distinct content,
// plus about 250 bytes per chunk. A chunk's KV bytes are some thousand times as much.
//
// The same content may be stored under several chunk hashes (after different prefixes). Each is a
// Placement; a query is answered with the oldest one that is still accepted.
// Threads: none of its own. find() may run beside other find()s, nothing beside add() or remove().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/chunk_hash.h"

namespace kvc {

class BlendMatcher {
 public:
  struct Placement {
    ChunkHash hash;            // the chunk hash it was stored under
    std::uint64_t old_st = 0;  // its first token in the sequence that stored it
  };
  struct Match {
    std::size_t cur_st = 0;  // its first token in the query
    Placement placement;
  };
  // Says whether a placement may be used (its objects are there and were locked, say). Called for
  // matches from left to right, and at most once for each placement that it refuses. What it
  // refuses is not in the answer and hides nothing.
  using Accept = std::function<bool(const Placement&)>;

  // `secret` decides the base of the hash: any random number, different for each process.
  BlendMatcher(std::size_t chunk_size, std::uint64_t secret);

  // Makes a chunk findable. A hash that is known already stays as it was first added.
  // REQUIRES: tokens.size() == chunk_size.
  void add(std::span<const std::uint32_t> tokens, const Placement& placement);

  // Forgets a chunk; false if it was not known.
  bool remove(const ChunkHash& hash);

  // All matches in the query, leftmost first, without overlaps.
  std::vector<Match> find(std::span<const std::uint32_t> query, const Accept& accept) const;

  std::size_t size() const { return place_of_.size(); }  // placements

 private:
  using Fingerprint = std::uint64_t;  // 0 … 2^61-2

  struct Content {
    Fingerprint fingerprint = 0;
    std::map<std::uint64_t, Placement> placements;  // by age; empty: the slot is free
  };
  struct Place {
    std::uint32_t content = 0;
    std::uint64_t age = 0;
  };
  struct TableEntry {
    Fingerprint fingerprint = 0;
    std::uint32_t content = kEmpty;
  };
  static constexpr std::uint32_t kEmpty = 0xffffffffU;
  static constexpr std::uint32_t kRemoved = 0xfffffffeU;

  Fingerprint fingerprint_of(std::span<const std::uint32_t> tokens) const;
  std::span<const std::uint32_t> tokens_of(std::uint32_t content) const;
  bool maybe_stored(Fingerprint fingerprint) const;
  const Content* find_content(Fingerprint fingerprint, const std::uint32_t* tokens) const;
  std::uint32_t take_slot(std::span<const std::uint32_t> tokens, Fingerprint fingerprint);
  void place(std::uint32_t content, const Placement& placement);
  void insert(Fingerprint fingerprint, std::uint32_t content);
  void rebuild(std::size_t num_contents);

  std::size_t chunk_size_;
  std::uint64_t base_;   // of the polynomial
  std::uint64_t leave_;  // base^chunk_size: the weight with which a token leaves the window
  std::vector<std::uint32_t> tokens_;  // slot i: chunk_size tokens from i * chunk_size
  std::vector<Content> contents_;      // by slot
  std::vector<std::uint32_t> free_slots_;
  std::vector<TableEntry> table_;      // open addressing, a power of two
  std::size_t num_table_used_ = 0;     // entries that are not kEmpty
  std::vector<std::uint64_t> filter_;  // 16 bits or more for each content, a power of two of words
  std::unordered_map<ChunkHash, Place, ChunkHashHasher> place_of_;
  std::uint64_t next_age_ = 0;
};

}  // namespace kvc
