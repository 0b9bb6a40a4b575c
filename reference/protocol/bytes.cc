// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/bytes.h"

namespace kvc {
namespace {

int digit_of(char character) {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'a' && character <= 'f') return character - 'a' + 10;
  if (character >= 'A' && character <= 'F') return character - 'A' + 10;
  return -1;
}

bool is_blank(char character) {
  return character == ' ' || character == '\n' || character == '\t' || character == '\r';
}

Error bad_at(std::size_t offset, const char* message) {
  return {Errc::kMalformed, {}, "character " + std::to_string(offset) + ": " + message};
}

}  // namespace

std::string to_hex(ByteView bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 0x0f]);
  }
  return text;
}

Result<Bytes> from_hex(std::string_view text) {
  Bytes bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_blank(text[i])) continue;
    const int high = digit_of(text[i]);
    if (high < 0) return bad_at(i, "expected a hexadecimal digit");
    if (i + 1 == text.size()) return bad_at(i, "a byte has two digits");
    const int low = digit_of(text[i + 1]);
    if (low < 0) return bad_at(i + 1, "a byte has two digits");
    bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
    ++i;
  }
  return bytes;
}

}  // namespace kvc
