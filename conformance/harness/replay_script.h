// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The text of replay_script.py, put into the binary when it is built (embed.cmake): every replay
// file that is left for people has it beside it.
#pragma once

#include <string_view>

namespace kvc::conformance {

std::string_view replay_script();

}  // namespace kvc::conformance
