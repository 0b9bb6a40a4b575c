// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Bytes: the two spellings of "some bytes", owned and seen, and their hexadecimal form.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvc/protocol/result.h"

namespace kvc {

using Bytes = std::vector<std::uint8_t>;         // owns
using ByteView = std::span<const std::uint8_t>;  // does not own; valid as long as what it sees

inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes to_bytes(ByteView bytes) { return {bytes.begin(), bytes.end()}; }

// "010e": two lower-case digits a byte, nothing between.
std::string to_hex(ByteView bytes);

// from_hex reads what to_hex wrote; upper case and blanks between bytes are fine too.
Result<Bytes> from_hex(std::string_view text);

}  // namespace kvc
