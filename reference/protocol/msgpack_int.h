// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// One msgpack integer: its length by its first byte, and its value. The lowest layer of reader.h
// and int_array.h; nothing here checks bounds.
#pragma once

#include <array>
#include <cstdint>

#include "big_endian.h"
#include "kvc/protocol/int.h"

namespace kvc {

// Bytes of an integer that starts with this byte; 0 where no integer does.
inline constexpr std::array<std::uint8_t, 256> kIntBytes = [] {
  std::array<std::uint8_t, 256> bytes{};
  for (std::size_t lead = 0; lead < 0x80; ++lead) bytes[lead] = 1;      // positive fixint
  for (std::size_t lead = 0xe0; lead < 0x100; ++lead) bytes[lead] = 1;  // negative fixint
  bytes[0xcc] = bytes[0xd0] = 2;
  bytes[0xcd] = bytes[0xd1] = 3;
  bytes[0xce] = bytes[0xd2] = 5;
  bytes[0xcf] = bytes[0xd3] = 9;
  return bytes;
}();

// REQUIRES: kIntBytes[*at] > 0, and so many readable bytes at `at`.
inline Int load_int(const std::uint8_t* at) {
  switch (*at) {
    case 0xcc:
      return Int(at[1]);
    case 0xcd:
      return Int(load_big_endian<std::uint16_t>(at + 1));
    case 0xce:
      return Int(load_big_endian<std::uint32_t>(at + 1));
    case 0xcf:
      return Int(load_big_endian<std::uint64_t>(at + 1));
    case 0xd0:
      return Int(static_cast<std::int8_t>(at[1]));
    case 0xd1:
      return Int(static_cast<std::int16_t>(load_big_endian<std::uint16_t>(at + 1)));
    case 0xd2:
      return Int(static_cast<std::int32_t>(load_big_endian<std::uint32_t>(at + 1)));
    case 0xd3:
      return Int(static_cast<std::int64_t>(load_big_endian<std::uint64_t>(at + 1)));
    default:
      return Int(static_cast<std::int8_t>(*at));  // fixint: the byte is the number
  }
}

// Bytes of the shortest encoding, the one that msgpack packers write.
inline std::uint8_t shortest_int_bytes(Int value) {
  if (value.is_negative()) {
    const auto number = static_cast<std::int64_t>(value.bits());
    if (number >= -32) return 1;
    if (number >= INT8_MIN) return 2;
    if (number >= INT16_MIN) return 3;
    return number >= INT32_MIN ? 5 : 9;
  }
  const std::uint64_t number = value.bits();
  if (number < 0x80) return 1;
  if (number <= UINT8_MAX) return 2;
  if (number <= UINT16_MAX) return 3;
  return number <= UINT32_MAX ? 5 : 9;
}

// A positive number in a signed encoding (d0…d3) may be as short as its minimal one, and still is
// not what a packer writes.
inline bool is_minimal_int(const std::uint8_t* at, Int value) {
  const bool signed_lead = *at >= 0xd0 && *at <= 0xd3;
  return kIntBytes[*at] == shortest_int_bytes(value) && (!signed_lead || value.is_negative());
}

}  // namespace kvc
