// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/device_uuid.h"

#include <algorithm>
#include <cctype>

namespace kvc::cuda {
namespace {

bool same_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::string uuid_text(const UuidBytes& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

bool names_uuid(std::string_view text, const UuidBytes& bytes) {
  constexpr std::string_view kPrefix = "GPU-";
  if (same_but_for_case(text.substr(0, kPrefix.size()), kPrefix))
    text.remove_prefix(kPrefix.size());
  return same_but_for_case(text, uuid_text(bytes));
}

}  // namespace kvc::cuda
