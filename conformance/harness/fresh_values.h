// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Fresh values: instance ids and tokens that no other case of the run uses, so that cases do not
// meet what others left on a server that lives on. Any thread may ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conformance/harness/case.h"

namespace kvc::conformance {

using Tokens = std::vector<std::uint32_t>;

// Ordinary tokens are at most this, first ones of a sequence above it.
inline constexpr std::uint32_t kOrdinaryTokenMax = 150'000;
inline constexpr std::uint32_t kFirstTokenMin = 200'000;

// Another run against the same server does not meet this one's instances either.
Int next_instance_id();

// `count` tokens that no other call gives: the first one is unique in the run, the others random.
Tokens fresh_token_ids(Case& test, std::size_t count);

}  // namespace kvc::conformance
