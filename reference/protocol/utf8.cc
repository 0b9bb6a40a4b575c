// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace kvc {
namespace {

bool is_continuation(char byte) { return (static_cast<std::uint8_t>(byte) & 0xc0) == 0x80; }

// The least second byte, and the greatest, after a lead byte: Unicode's table 3-7 (well-formed
// sequences). This is where overlong forms, surrogates and too large numbers are refused.
bool is_second_byte(std::uint8_t lead, std::uint8_t second) {
  const std::uint8_t least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const std::uint8_t greatest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  return second >= least && second <= greatest;
}

}  // namespace

bool is_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (text.size() - at >= 8) {  // most text is ASCII: eight bytes at once
      std::uint64_t block = 0;
      std::memcpy(&block, text.data() + at, sizeof block);
      if ((block & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    const auto lead = static_cast<std::uint8_t>(text[at]);
    if (lead < 0x80) {
      ++at;
      continue;
    }
    if (lead < 0xc2 || lead > 0xf4) return false;
    const std::size_t num_bytes = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (text.size() - at < num_bytes) return false;
    if (!is_second_byte(lead, static_cast<std::uint8_t>(text[at + 1]))) return false;
    for (std::size_t i = 2; i < num_bytes; ++i) {
      if (!is_continuation(text[at + i])) return false;
    }
    at += num_bytes;
  }
  return true;
}

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !is_continuation(byte); }));
}

}  // namespace kvc
