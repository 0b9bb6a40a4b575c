// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Nearest: the name that somebody who mistyped one may have meant. Pure function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kvc::conformance {

// "; did you mean X?" for the name that is fewest changes away, if those are not too many; else "".
// Letters' case does not count, and neither does a name that ends too early or goes on too long by
// a few words: ids are long.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace kvc::conformance
