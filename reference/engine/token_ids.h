// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Token ids as the 32-bit numbers that hashing and matching work on. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kvc/protocol/int_array.h"
#include "kvc/protocol/result.h"

namespace kvc {

// Reads the next out.size() tokens; `index` is the first one's, for errors. A token id that does
// not fit u32 is kInvalidArgument, as the real server cannot hash it. `at` is moved past them.
// REQUIRES: that many are left.
Result<void> read_tokens(const IntArray& tokens, IntArray::Iterator& at, std::size_t index,
                         std::span<std::uint32_t> out);

// The first `count` tokens. Those behind are not looked at. REQUIRES: count <= tokens.size().
Result<std::vector<std::uint32_t>> leading_tokens(const IntArray& tokens, std::size_t count);

// A run of tokens that all fit u32.
struct TokenSegment {
  std::size_t first = 0;
  std::vector<std::uint32_t> tokens;
};

// The array cut at the tokens beyond u32: these equal no token that was ever stored. One segment
// where there are none. A negative token is kInvalidArgument.
Result<std::vector<TokenSegment>> token_segments(const IntArray& tokens);

}  // namespace kvc
