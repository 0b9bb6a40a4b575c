// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Legal values: for each wire type of payloads, frames that every decoder of the protocol has to
// take: ordinary ones and those at the limits of what the types hold. Whether a server can carry
// out a request with them is another question. Pure, but for the random numbers that they use.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/int.h"
#include "kvc/protocol/wire_type.h"

namespace kvc::conformance {

using Random = std::mt19937_64;

// 0 … bound-1. The same from the same seed everywhere, unlike the standard distributions.
inline std::uint64_t below(Random& random, std::uint64_t bound) { return random() % bound; }
inline bool one_in(Random& random, std::uint64_t times) { return below(random, times) == 0; }

Int legal_int(Random& random);
std::string legal_text(Random& random);  // UTF-8
Bytes random_bytes(Random& random, std::size_t size_max);

// REQUIRES: a type that payloads have (not a result's alone).
Bytes legal_frame(WireType type, Random& random);

}  // namespace kvc::conformance
