// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The suite's version, as project() in the top CMakeLists.txt has it.
#pragma once

#include <string_view>

namespace kvc::conformance {

#ifndef KVC_VERSION
#error "KVC_VERSION is set by conformance/CMakeLists.txt"
#endif
inline constexpr std::string_view kSuiteVersion = KVC_VERSION;

}  // namespace kvc::conformance
