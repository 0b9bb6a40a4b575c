// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Page assets: page.css and page.js, put into the binary when it is built (harness/embed.cmake).
#pragma once

#include <string_view>

namespace kvc::conformance {

std::string_view page_css();
std::string_view page_js();

}  // namespace kvc::conformance
