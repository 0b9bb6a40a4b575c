// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Big-endian loads, and stores at the end of a buffer: the byte order of msgpack.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvc/protocol/bytes.h"

namespace kvc {

// REQUIRES: sizeof(T) readable bytes at `at`.
template <std::unsigned_integral T>
T load_big_endian(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
  return value;
}

// REQUIRES: sizeof(T) readable bytes at `at`. (The byte order of pickle.)
template <std::unsigned_integral T>
T load_little_endian(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

}  // namespace kvc
