// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Arena: all memory for chunk objects: one reservation of address space, given out in pieces. Pages
// are touched first by who writes them, so an idle server of 100 GB costs nothing. Free neighbours
// merge, and a piece comes from the smallest gap that holds it, so pieces of one size never leave
// holes, and pieces of several sizes never stay in the way once they are free.
//
// The constructor throws std::system_error when the address space cannot be had. Not thread-safe:
// its user (object_store.h) locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace kvc {

class Arena {
 public:
  // Pieces begin on and are rounded up to a cache line: no two objects share one.
  static constexpr std::size_t kAlignment = 64;

  explicit Arena(std::size_t size_bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // A piece of at least size_bytes, or none. REQUIRES: size_bytes > 0.
  std::optional<std::span<std::uint8_t>> allocate(std::size_t size_bytes);
  // REQUIRES: `piece` came from allocate() and is given back once.
  void release(std::span<std::uint8_t> piece);

  std::size_t size_bytes() const { return size_bytes_; }
  std::size_t free_bytes() const { return free_bytes_; }
  std::size_t num_gaps() const { return gaps_.size(); }
  std::span<std::uint8_t> memory() const { return {base_, size_bytes_}; }

  // What a piece of this size takes from free_bytes().
  static std::size_t rounded(std::size_t size_bytes);

 private:
  void add_gap(std::size_t offset, std::size_t size);
  void remove_gap(std::map<std::size_t, std::size_t>::iterator gap);

  std::uint8_t* base_ = nullptr;
  std::size_t size_bytes_ = 0;
  std::size_t free_bytes_ = 0;
  std::map<std::size_t, std::size_t> gaps_;                     // offset → size
  std::set<std::pair<std::size_t, std::size_t>> gaps_by_size_;  // (size, offset)
};

}  // namespace kvc
