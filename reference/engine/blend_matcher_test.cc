// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The truth here is the slow, obvious search: at each position compare the window with every stored
// chunk, take the oldest, go on behind it.
#include "engine/blend_matcher.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

namespace kvc {
namespace {

using Tokens = std::vector<std::uint32_t>;
constexpr std::uint64_t kSecret = 20240607;

ChunkHash hash_of(std::uint64_t number) {
  ChunkHash hash{};
  std::copy_n(reinterpret_cast<const std::uint8_t*>(&number), sizeof number, hash.begin());
  return hash;
}

bool accept_all(const BlendMatcher::Placement&) { return true; }

struct Stored {
  Tokens tokens;
  BlendMatcher::Placement placement;
};

std::vector<BlendMatcher::Match> obvious(const std::vector<Stored>& stored, const Tokens& query,
                                         std::size_t chunk_size,
                                         const BlendMatcher::Accept& accept) {
  std::vector<BlendMatcher::Match> matches;
  for (std::size_t at = 0; at + chunk_size <= query.size();) {
    const auto hit = std::find_if(stored.begin(), stored.end(), [&](const Stored& s) {
      return std::equal(s.tokens.begin(), s.tokens.end(),
                        query.begin() + static_cast<std::ptrdiff_t>(at)) &&
             accept(s.placement);
    });
    if (hit == stored.end()) {
      ++at;
    } else {
      matches.push_back({at, hit->placement});
      at += chunk_size;
    }
  }
  return matches;
}

void expect_same(const std::vector<BlendMatcher::Match>& actual,
                 const std::vector<BlendMatcher::Match>& expected) {
  RC_ASSERT(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    RC_ASSERT(actual[i].cur_st == expected[i].cur_st);
    RC_ASSERT(actual[i].placement.hash == expected[i].placement.hash);
    RC_ASSERT(actual[i].placement.old_st == expected[i].placement.old_st);
  }
}

TEST(BlendMatcher, FindsAtEveryOffset) {
  BlendMatcher matcher(4, kSecret);
  matcher.add(Tokens{7, 8, 9, 10}, {hash_of(1), 0});
  for (std::size_t offset = 0; offset < 150; ++offset) {
    Tokens query(offset, 1);
    query.insert(query.end(), {7, 8, 9, 10});
    const auto matches = matcher.find(query, accept_all);
    ASSERT_EQ(matches.size(), 1U) << offset;
    EXPECT_EQ(matches[0].cur_st, offset);
  }
}

TEST(BlendMatcher, KnowsTokenZeroFromNoToken) {
  BlendMatcher matcher(4, kSecret);
  matcher.add(Tokens{0, 0, 0, 5}, {hash_of(1), 0});
  EXPECT_TRUE(matcher.find(Tokens{1, 0, 0, 5, 0}, accept_all).empty());
  EXPECT_EQ(matcher.find(Tokens{0, 0, 0, 5}, accept_all).size(), 1U);
}

TEST(BlendMatcher, AllEqualTokensMatchOnceAChunk) {
  BlendMatcher matcher(16, kSecret);
  matcher.add(Tokens(16, 3), {hash_of(1), 0});
  const auto matches = matcher.find(Tokens(16 * 100 + 5, 3), accept_all);
  ASSERT_EQ(matches.size(), 100U);
  for (std::size_t i = 0; i < matches.size(); ++i) EXPECT_EQ(matches[i].cur_st, 16 * i);
}

TEST(BlendMatcher, AsksOnceForARefusedPlacement) {
  BlendMatcher matcher(16, kSecret);
  for (std::uint64_t i = 0; i < 10; ++i) matcher.add(Tokens(16, 3), {hash_of(i), 16 * i});
  int asked = 0;
  const auto matches = matcher.find(Tokens(5000, 3), [&](const auto&) {
    ++asked;
    return false;
  });
  EXPECT_TRUE(matches.empty());
  EXPECT_EQ(asked, 10);
}

TEST(BlendMatcher, NextPlacementServesWhenTheOldestIsGone) {
  BlendMatcher matcher(4, kSecret);
  matcher.add(Tokens{1, 2, 3, 4}, {hash_of(1), 0});
  matcher.add(Tokens{1, 2, 3, 4}, {hash_of(2), 8});
  EXPECT_EQ(matcher.find(Tokens{1, 2, 3, 4}, accept_all).at(0).placement.hash, hash_of(1));
  EXPECT_TRUE(matcher.remove(hash_of(1)));
  EXPECT_EQ(matcher.find(Tokens{1, 2, 3, 4}, accept_all).at(0).placement.hash, hash_of(2));
  EXPECT_TRUE(matcher.remove(hash_of(2)));
  EXPECT_FALSE(matcher.remove(hash_of(2)));
  EXPECT_TRUE(matcher.find(Tokens{1, 2, 3, 4}, accept_all).empty());
  EXPECT_EQ(matcher.size(), 0U);
}

TEST(BlendMatcher, SurvivesMoreChunksThanAnyFirstTable) {
  BlendMatcher matcher(2, kSecret);
  constexpr std::uint32_t kCount = 5000;
  for (std::uint32_t i = 0; i < kCount; ++i) matcher.add(Tokens{i, i + 1}, {hash_of(i), i});
  for (std::uint32_t i = 0; i < kCount; i += 2) ASSERT_TRUE(matcher.remove(hash_of(i)));
  for (std::uint32_t i = 0; i < kCount; ++i)
    ASSERT_EQ(matcher.find(Tokens{i, i + 1}, accept_all).size(), i % 2) << i;
}

// Few distinct tokens and short chunks: repeats, overlaps and equal contents everywhere.
RC_GTEST_PROP(BlendMatcher, AgreesWithTheObviousSearch, ()) {
  const auto chunk_size = *rc::gen::inRange<std::size_t>(1, 6);
  const auto alphabet = *rc::gen::inRange<std::uint32_t>(1, 5);
  const auto tokens = rc::gen::inRange<std::uint32_t>(0, alphabet);
  const auto chunks =
      *rc::gen::container<std::vector<Tokens>>(rc::gen::container<Tokens>(chunk_size, tokens));
  const auto removed = *rc::gen::container<std::vector<std::uint64_t>>(
      rc::gen::inRange<std::uint64_t>(0, chunks.size() + 1));
  const auto query = *rc::gen::container<Tokens>(tokens);
  BlendMatcher matcher(chunk_size, *rc::gen::arbitrary<std::uint64_t>());
  std::vector<Stored> stored;
  for (std::uint64_t i = 0; i < chunks.size(); ++i) {
    const BlendMatcher::Placement placement{hash_of(i), i * chunk_size};
    matcher.add(chunks[i], placement);
    stored.push_back({chunks[i], placement});
  }
  for (const std::uint64_t number : removed) {
    matcher.remove(hash_of(number));
    std::erase_if(stored, [&](const Stored& s) { return s.placement.hash == hash_of(number); });
  }
  const auto accept = [](const BlendMatcher::Placement& p) { return p.hash[0] % 3 != 0; };
  expect_same(matcher.find(query, accept), obvious(stored, query, chunk_size, accept));
}

// A Thue-Morse sequence and its complement have equal polynomial hashes modulo 2^64 for every base.
TEST(BlendMatcher, TellsThueMorseSequencesApart) {
  constexpr std::size_t kLength = 2048;
  Tokens plain(kLength);
  Tokens complement(kLength);
  for (std::size_t i = 0; i < kLength; ++i) {
    plain[i] = static_cast<std::uint32_t>(__builtin_popcountll(i) & 1);
    complement[i] = 1 - plain[i];
  }
  BlendMatcher matcher(kLength, kSecret);
  int compared = 0;
  matcher.add(plain, {hash_of(1), 0});
  EXPECT_TRUE(matcher.find(complement, [&](const auto&) { return ++compared > 0; }).empty());
  EXPECT_EQ(matcher.find(plain, accept_all).size(), 1U);
}

}  // namespace
}  // namespace kvc
