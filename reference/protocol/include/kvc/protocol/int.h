// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Int: any integer that msgpack can write, -2^63 … 2^64-1. Python's int has no limits and the real
// decoder accepts all of these where the protocol says `int`, so an int64 would not do
// (measured: lmcache 0.4.5, uint64 above 2^63-1). A plain value.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace kvc {

class Int {
 public:
  constexpr Int() = default;
  template <std::integral T>
  constexpr Int(T value)  // NOLINT(google-explicit-constructor): an int is an Int
      : bits_(static_cast<std::uint64_t>(value)), negative_(value < T{0}) {}

  constexpr bool is_negative() const { return negative_; }

  // The two's complement bits; with is_negative() they are the whole value.
  constexpr std::uint64_t bits() const { return bits_; }

  constexpr std::optional<std::int64_t> as_i64() const {
    if (!negative_ && bits_ > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return std::nullopt;
    return static_cast<std::int64_t>(bits_);
  }
  constexpr std::optional<std::uint64_t> as_u64() const {
    if (negative_) return std::nullopt;
    return bits_;
  }
  constexpr std::optional<std::uint32_t> as_u32() const {
    if (negative_ || bits_ > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    return static_cast<std::uint32_t>(bits_);
  }

  std::string to_string() const {
    return negative_ ? std::to_string(static_cast<std::int64_t>(bits_)) : std::to_string(bits_);
  }

  friend constexpr bool operator==(Int a, Int b) = default;
  friend constexpr std::strong_ordering operator<=>(Int a, Int b) {
    if (a.negative_ != b.negative_)
      return a.negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
    return a.bits_ <=> b.bits_;  // two's complement keeps the order within one sign
  }

 private:
  std::uint64_t bits_ = 0;
  bool negative_ = false;
};

}  // namespace kvc
