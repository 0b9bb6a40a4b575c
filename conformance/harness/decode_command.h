// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// `kvconform decode`: says what bytes are: a frame, or a message of frames joined by '|', as hex on
// the command line or in a file; a file of raw bytes (one frame); or a replay file.
#pragma once

#include <ostream>
#include <string>

#include "kvc/protocol/registry.h"

namespace kvc::conformance {

// False when `input` is neither hex nor a file; then `out` says so.
bool decode_command(const Registry& registry, const std::string& input, std::ostream& out);

}  // namespace kvc::conformance
