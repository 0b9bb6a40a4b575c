// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Paragraphs: how CB_LOOKUP_PRE_COMPUTED (V1) splits a query. A paragraph runs from the first token
// of a start pattern to past the last token of the nearest end pattern behind it; the next one is
// looked for from there. Without an end there is no paragraph. (seed: RangePatternMatcher of
// lmcache 0.4.2.) A server without patterns takes the whole query as one paragraph. Pure; any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/chunk_hash.h"
#include "kvc/protocol/result.h"

namespace kvc {

inline constexpr std::size_t kPatternTokensMax = 5;

struct ParagraphPatterns {
  std::vector<std::uint32_t> start;  // both empty, or both of 1 to 5 tokens
  std::vector<std::uint32_t> end;
};

// "200006" or "1,2,3". Anything else than 1 to 5 token ids is kInvalidArgument.
Result<std::vector<std::uint32_t>> parse_pattern(const std::string& text);

struct TokenRange {
  std::size_t first = 0;
  std::size_t end = 0;

  friend bool operator==(const TokenRange&, const TokenRange&) = default;
};

// The paragraphs of a query, in order.
std::vector<TokenRange> split_paragraphs(std::span<const std::uint32_t> tokens,
                                         const ParagraphPatterns& patterns);

}  // namespace kvc
