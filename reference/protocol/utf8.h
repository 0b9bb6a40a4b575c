// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// UTF-8, as Python's strict decoder takes it: no overlong forms, no surrogates, nothing above
// U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace kvc {

bool is_utf8(std::string_view text);

// REQUIRES: is_utf8(text).
std::size_t count_code_points(std::string_view text);

}  // namespace kvc
