// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/arena.h"

#include <sys/mman.h>

#include <cerrno>
#include <iterator>
#include <system_error>

#include "kvc/protocol/assert.h"

namespace kvc {

std::size_t Arena::rounded(std::size_t size_bytes) {
  return (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

Arena::Arena(std::size_t size_bytes) : size_bytes_(size_bytes / kAlignment * kAlignment) {
  if (size_bytes_ == 0) return;
  void* memory = ::mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw std::system_error(
        errno, std::generic_category(),
        "cannot reserve " + std::to_string(size_bytes_) + " bytes for the cache (mmap)");
  base_ = static_cast<std::uint8_t*>(memory);
  free_bytes_ = size_bytes_;
  add_gap(0, size_bytes_);
}

Arena::~Arena() {
  if (base_ != nullptr) ::munmap(base_, size_bytes_);
}

std::optional<std::span<std::uint8_t>> Arena::allocate(std::size_t size_bytes) {
  KVC_ASSERT(size_bytes > 0);
  if (size_bytes > size_bytes_) return std::nullopt;  // before rounding can overflow
  const std::size_t size = rounded(size_bytes);
  const auto fitting = gaps_by_size_.lower_bound({size, 0});
  if (fitting == gaps_by_size_.end()) return std::nullopt;
  const auto [gap_size, offset] = *fitting;
  remove_gap(gaps_.find(offset));
  if (gap_size > size) add_gap(offset + size, gap_size - size);
  free_bytes_ -= size;
  return std::span<std::uint8_t>(base_ + offset, size);
}

void Arena::release(std::span<std::uint8_t> piece) {
  KVC_ASSERT(piece.data() >= base_ && piece.data() + piece.size() <= base_ + size_bytes_);
  std::size_t offset = static_cast<std::size_t>(piece.data() - base_);
  std::size_t size = piece.size();
  free_bytes_ += size;
  auto next = gaps_.lower_bound(offset);
  if (next != gaps_.end()) {
    KVC_ASSERT(offset + size <= next->first);  // not free already
    if (offset + size == next->first) {
      size += next->second;
      const auto merged = next++;
      remove_gap(merged);
    }
  }
  if (next != gaps_.begin()) {
    const auto previous = std::prev(next);
    KVC_ASSERT(previous->first + previous->second <= offset);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      size += previous->second;
      remove_gap(previous);
    }
  }
  add_gap(offset, size);
}

void Arena::add_gap(std::size_t offset, std::size_t size) {
  gaps_.emplace(offset, size);
  gaps_by_size_.emplace(size, offset);
}

void Arena::remove_gap(std::map<std::size_t, std::size_t>::iterator gap) {
  KVC_ASSERT(gap != gaps_.end());
  gaps_by_size_.erase({gap->second, gap->first});
  gaps_.erase(gap);
}

}  // namespace kvc
