// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// A frame as JSON, as replay files have it: hex, or, where the frame repeats itself, a list of
// parts that make it one behind the other:
//   "0e"    ["dcffff", {"hex": "c1", "times": 67108864}, "00"]    ["92c440", {"any": 64}, "c3"]
// {"any": N} is read as N zero bytes: golden/messages has it where a server may say what it likes.
// Pure functions.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/result.h"

namespace kvc::conformance {

nlohmann::ordered_json frame_to_json(ByteView frame);

// Paths of errors begin with `path`. Takes the frame's size from `bytes_left`: few words can ask
// for very much memory.
Result<Bytes> frame_from_json(const nlohmann::ordered_json& json, const std::string& path,
                              std::size_t& bytes_left);

}  // namespace kvc::conformance
