// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Lead: what the first byte of a msgpack value says: its family, and how its size is known.
#pragma once

#include <array>
#include <cstdint>

namespace kvc {

// The kinds of values as msgspec's messages name them. kNone: c1, which starts nothing.
enum class Family : std::uint8_t {
  kNone,
  kNull,
  kBool,
  kInt,
  kFloat,
  kStr,
  kBytes,
  kArray,
  kObject,
  kExt
};

struct Lead {
  Family family = Family::kNone;
  std::uint8_t length_bytes = 0;  // bytes of the length field behind the lead byte
  std::uint8_t count = 0;         // without one: bytes of the body, elements, or pairs

  constexpr const char* name() const {
    constexpr const char* kNames[] = {"unknown", "null",  "bool",  "int",    "float",
                                      "str",     "bytes", "array", "object", "ext"};
    return kNames[static_cast<std::size_t>(family)];
  }
};

inline constexpr std::array<Lead, 256> kLeads = [] {
  std::array<Lead, 256> leads{};
  const auto size_of = [](std::size_t size) { return static_cast<std::uint8_t>(size); };
  for (std::size_t i = 0x00; i < 0x80; ++i) leads[i] = {Family::kInt, 0, 0};
  for (std::size_t i = 0xe0; i < 0x100; ++i) leads[i] = {Family::kInt, 0, 0};
  for (std::size_t i = 0; i < 16; ++i) {
    leads[0x80 + i] = {Family::kObject, 0, size_of(i)};
    leads[0x90 + i] = {Family::kArray, 0, size_of(i)};
  }
  for (std::size_t i = 0; i < 32; ++i) leads[0xa0 + i] = {Family::kStr, 0, size_of(i)};
  leads[0xc0] = {Family::kNull, 0, 0};
  leads[0xc2] = leads[0xc3] = {Family::kBool, 0, 0};
  leads[0xca] = {Family::kFloat, 0, 4};
  leads[0xcb] = {Family::kFloat, 0, 8};
  for (std::size_t i = 0; i < 4; ++i) {
    leads[0xcc + i] = leads[0xd0 + i] = {Family::kInt, 0, size_of(std::size_t{1} << i)};
  }
  for (std::size_t i = 0; i < 5; ++i) {
    leads[0xd4 + i] = {Family::kExt, 0, size_of(std::size_t{1} << i)};
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint8_t length_bytes = size_of(std::size_t{1} << i);
    leads[0xc4 + i] = {Family::kBytes, length_bytes, 0};
    leads[0xc7 + i] = {Family::kExt, length_bytes, 0};
    leads[0xd9 + i] = {Family::kStr, length_bytes, 0};
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const std::uint8_t length_bytes = size_of(std::size_t{2} << i);
    leads[0xdc + i] = {Family::kArray, length_bytes, 0};
    leads[0xde + i] = {Family::kObject, length_bytes, 0};
  }
  return leads;
}();

constexpr Lead lead_of(std::uint8_t byte) { return kLeads[byte]; }

}  // namespace kvc
