// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// IntArray: the elements of a decoded `list[int]`, kept as the msgpack bytes they came in. Decoding
// a Key of 131,072 tokens therefore makes no object per element and copies nothing: one pass checks
// the elements and finds out whether all fit u32 (the condition for token ids and for hashing).
//
// Lifetime: an IntArray made by the decoder SEES the frame; the frame must outlive it. One made by
// of() owns its bytes (shared between copies). own() turns the first into the second.
// Threads: immutable after construction; any number may read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/int.h"

namespace kvc {

class IntArray {
 public:
  // Walks the elements in order. A forward iterator: there is no way to jump.
  class Iterator {
   public:
    using value_type = Int;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;
    using pointer = const Int*;
    using reference = Int;

    Iterator() = default;
    explicit Iterator(const std::uint8_t* at) : at_(at) {}
    Int operator*() const;
    Iterator& operator++();
    Iterator operator++(int) {
      Iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(Iterator a, Iterator b) { return a.at_ == b.at_; }

    // Reads `count` elements as u32 into `out` and moves past them: the fast way for tokens.
    // REQUIRES: all_fit_u32() of the array, and `count` elements left.
    void read_u32(std::uint32_t* out, std::size_t count);

   private:
    const std::uint8_t* at_ = nullptr;
  };

  IntArray() = default;
  IntArray(std::initializer_list<Int> values)
      : IntArray(of(std::span<const Int>(values.begin(), values.size()))) {}

  // An owning array of the given values, in minimal encoding.
  static IntArray of(std::span<const Int> values);
  static IntArray of_u32(std::span<const std::uint32_t> values);

  // What the decoder calls, with elements it has checked: `encoded` holds exactly `size` integers.
  static IntArray seeing(ByteView encoded, std::size_t size, bool all_fit_u32, bool minimal);

  // The same values, owning.
  IntArray own() const;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool all_fit_u32() const { return all_fit_u32_; }

  // True when each element is in its shortest encoding, so encoded() can be sent as it is.
  bool minimal() const { return minimal_; }

  // The elements' bytes, without the array header.
  ByteView encoded() const { return encoded_; }

  Iterator begin() const { return Iterator(encoded_.data()); }
  Iterator end() const { return Iterator(encoded_.data() + encoded_.size()); }

  std::vector<Int> to_vector() const { return {begin(), end()}; }

  // Equal values, however encoded.
  friend bool operator==(const IntArray& a, const IntArray& b);

 private:
  static IntArray owning(Bytes encoded, std::size_t size, bool all_fit_u32, bool minimal);

  ByteView encoded_;
  std::size_t size_ = 0;
  bool all_fit_u32_ = true;
  bool minimal_ = true;
  std::shared_ptr<const Bytes> owner_;
};

}  // namespace kvc
