// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Message text: frames in words, for failures and for `kvconform decode`. Whatever the bytes are,
// there are words for them; nothing here throws. Pure functions.
#pragma once

#include <string>

#include "conformance/harness/trace.h"
#include "kvc/protocol/registry.h"

namespace kvc::conformance {

// "01|0e|a24f4b"; of each frame no more than `frame_bytes_max` bytes are shown.
std::string frames_hex(const Frames& frames, std::size_t frame_bytes_max = 64);

// One msgpack document (or what is none): "[1, \"a\", nil]", "int 5, then 2 bytes too many".
std::string msgpack_in_words(ByteView document);

// "NOOP uid=1 ()", "LOOKUP uid=2 (Key{…}, 1)".
std::string describe_request(const Registry& registry, const Frames& frames);

// "NOOP uid=1 -> \"OK\"", "CLEAR uid=4 -> None (no result frame)".
std::string describe_response(const Registry& registry, const Frames& frames);

}  // namespace kvc::conformance
