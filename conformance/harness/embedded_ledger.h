// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The text of conformance/requirements.yaml, put into the binary when it is built (embed.cmake), so
// that kvconform is one file.
#pragma once

#include <string_view>

namespace kvc::conformance {

std::string_view embedded_ledger();

}  // namespace kvc::conformance
