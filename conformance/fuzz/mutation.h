// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Mutations: ways to change a legal request, and what is known of each: whether what comes out is
// still a legal message. Knows the registry and the types, and asks no decoder: its claims and the
// decoder's verdicts are tested against each other. Pure, but for the random numbers.
#pragma once

#include <array>
#include <string_view>

#include "conformance/fuzz/legal_values.h"
#include "conformance/harness/trace.h"
#include "kvc/protocol/registry.h"

namespace kvc::conformance {

enum class Mutation {
  kPlain,  // nothing is changed
  // Stays legal, and means the same.
  kLonger,     // numbers, lengths and headers in other widths
  kMapForms,   // fields in another order, repeated, with unknown ones; no cache_salt
  kUid,        // any bytes
  kTypeWidth,  // the type's number in another width
  // Stays legal, and means something else.
  kOtherValue,  // a payload replaced by another legal one
  // No request.
  kFewFrames,
  kTypeNumber,     // one that is nobody's
  kTypeKind,       // no integer
  kTypeMalformed,  // no document, or more than one
  kPayloadMissing,
  kPayloadExtra,
  kManyFrames,
  // A payload that does not decode.
  kOtherKind,
  kField,   // one of another kind, or missing, in a map or a list
  kBehind,  // bytes behind the document
  kCut,
  kEmpty,
  kNeverUsed,  // c1
  kLyingLength,
  kDeep,
  kHuge,
  kBadText,   // a str that is no UTF-8
  kBadValue,  // a salt, an enum, an Ext code that is not allowed
  kBadPickle,
  // One or the other.
  kOtherType,  // the payloads under another type's number
  kSwapped,    // two payloads
  kBits,
  kNoise,  // frames of random bytes
  // A harmless exploit (--security only).
  kCanary,
};
inline constexpr int kNumMutations = 30;
std::string_view to_string(Mutation mutation);  // "plain", "type-number", …

enum class Legality { kLegal, kIllegal, kEither };
Legality legality_of(Mutation mutation);
// Whether a legal message means the same after it.
bool keeps_meaning(Mutation mutation);

// REQUIRES: frames are a legal request. False, with nothing changed, where it has nothing that can
// be changed so. kCanary is made by make_canary() alone.
bool mutate(Mutation mutation, const Registry& registry, Frames& frames, Random& random);

// A registration whose pickle would make the folder `path`, were it run. Illegal.
void make_canary(Frames& frames, const Registry& registry, const std::string& path);

}  // namespace kvc::conformance
