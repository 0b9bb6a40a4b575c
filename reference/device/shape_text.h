// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// A tensor's shape as messages say it: "[2, 16, 8]".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvc {

inline std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

}  // namespace kvc
