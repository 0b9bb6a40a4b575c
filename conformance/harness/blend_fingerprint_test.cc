// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/blend_fingerprint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kvc::conformance {
namespace {

Tokens random_tokens(std::mt19937_64& random, std::size_t count) {
  std::uniform_int_distribution<std::uint32_t> any(kCollisionRoom, kOrdinaryTokenMax);
  Tokens tokens(count);
  for (std::uint32_t& token : tokens) token = any(random);
  return tokens;
}

// Asked of lmcache 0.4.5: chunk_hash_windows_numba([1 … 32], 32, base), and of [7] * 16.
TEST(BlendFingerprint, IsThatOfLmcache) {
  Tokens counted(32);
  for (std::uint32_t i = 0; i < 32; ++i) counted[i] = i + 1;
  EXPECT_EQ(blend_fingerprint(counted), 0xd3359c90f666cbd0U);
  EXPECT_EQ(blend_fingerprint(Tokens(16, 7)), 0xd15f2ffcce808c10U);
}

TEST(BlendFingerprint, CollidesInAllBits) {
  std::mt19937_64 random(17);
  for (int i = 0; i < 100; ++i) {
    const Tokens tokens = random_tokens(random, 32);
    const Tokens other = colliding_with(tokens);
    EXPECT_NE(other, tokens);
    EXPECT_EQ(blend_fingerprint(other), blend_fingerprint(tokens));
  }
}

TEST(BlendFingerprint, QuietMeansNoForeignSlot) {
  std::mt19937_64 random(19);
  const Tokens chunk = random_tokens(random, 16);
  TakenSlots taken;
  taken.take(chunk);
  Tokens query = random_tokens(random, 100);
  std::copy(chunk.begin(), chunk.end(), query.begin() + 41);
  EXPECT_TRUE(taken.quiet(query, 16)) << "its own tokens";
  const Tokens other = colliding_with(chunk);
  std::copy(other.begin(), other.end(), query.begin() + 7);
  EXPECT_FALSE(taken.quiet(query, 16)) << "other tokens with its fingerprint";
  EXPECT_TRUE(taken.quiet(Tokens(15, 1), 16)) << "shorter than a window";
}

}  // namespace
}  // namespace kvc::conformance
