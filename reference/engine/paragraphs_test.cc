// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/paragraphs.h"

#include <gtest/gtest.h>

namespace kvc {
namespace {

using Tokens = std::vector<std::uint32_t>;

std::vector<TokenRange> split(const Tokens& start, const Tokens& end, const Tokens& tokens) {
  return split_paragraphs(tokens, {start, end});
}

// What lmcache.native_storage_ops.RangePatternMatcher answered to the same.
TEST(Paragraphs, AreThoseOfTheRealMatcher) {
  using Ranges = std::vector<TokenRange>;
  EXPECT_EQ(split({1}, {2}, {1, 1, 5, 2, 2, 1, 2}), (Ranges{{0, 4}, {5, 7}}));
  EXPECT_EQ(split({1, 2}, {2, 3}, {1, 2, 3, 2, 3}), (Ranges{{0, 5}}));
  EXPECT_EQ(split({1, 2}, {1, 2}, {1, 2, 0, 1, 2, 1, 2, 1, 2}), (Ranges{{0, 5}, {5, 9}}));
  EXPECT_EQ(split({1}, {1}, {1, 1, 1, 1, 1}), (Ranges{{0, 2}, {2, 4}}));
  EXPECT_EQ(split({1, 1}, {2}, {1, 1, 1, 2}), (Ranges{{0, 4}}));
  EXPECT_EQ(split({1}, {2}, {1, 5, 5, 1, 2}), (Ranges{{0, 5}}));
  EXPECT_EQ(split({5}, {2}, {2, 5, 1}), Ranges{});
  EXPECT_EQ(split({5}, {2}, {}), Ranges{});
}

TEST(Paragraphs, AreTheWholeQueryWithoutPatterns) {
  EXPECT_EQ(split({}, {}, {7, 8, 9}), (std::vector<TokenRange>{{0, 3}}));
}

TEST(Pattern, IsOneToFiveTokenIds) {
  EXPECT_EQ(*parse_pattern("200006"), Tokens{200006});
  EXPECT_EQ(*parse_pattern("1,2,3,4,4294967295"), (Tokens{1, 2, 3, 4, 4294967295U}));
  for (const char* text : {"", ",", "1,", ",1", "1 2", "-1", "x", "1,2,3,4,5,6", "4294967296"})
    EXPECT_FALSE(parse_pattern(text).ok()) << text;
}

}  // namespace
}  // namespace kvc
