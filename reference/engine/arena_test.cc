// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace kvc {
namespace {

TEST(Arena, GivesAllOfItsMemoryToPiecesOfOneSize) {
  Arena arena(64 * 100);
  std::vector<std::span<std::uint8_t>> pieces;
  for (int i = 0; i < 100; ++i) {
    const auto piece = arena.allocate(50);
    ASSERT_TRUE(piece);
    std::fill(piece->begin(), piece->end(), static_cast<std::uint8_t>(i));
    pieces.push_back(*piece);
  }
  EXPECT_FALSE(arena.allocate(1));
  EXPECT_EQ(arena.free_bytes(), 0U);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    EXPECT_TRUE(std::all_of(pieces[i].begin(), pieces[i].end(),
                            [i](std::uint8_t b) { return b == static_cast<std::uint8_t>(i); }));
}

TEST(Arena, RefusesMoreThanItHas) {
  Arena arena(640);
  EXPECT_FALSE(arena.allocate(641));
  EXPECT_FALSE(arena.allocate(~std::size_t{0}));
  EXPECT_TRUE(arena.allocate(640));
}

TEST(Arena, OfNothingHasNothing) {
  Arena arena(0);
  EXPECT_FALSE(arena.allocate(1));
}

TEST(Arena, IsOneGapAgainWhenAllIsReleasedInAnyOrder) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Arena arena(1 << 20);
  std::vector<std::span<std::uint8_t>> pieces;
  std::size_t taken = 0;
  for (int step = 0; step < 5000; ++step) {
    if (pieces.empty() || random() % 5 < 3) {
      const std::size_t size = 1 + random() % 9000;
      const auto piece = arena.allocate(size);
      if (!piece) continue;
      ASSERT_GE(piece->size(), size);
      for (const auto other : pieces)
        ASSERT_TRUE(piece->data() + piece->size() <= other.data() ||
                    other.data() + other.size() <= piece->data());
      taken += piece->size();
      pieces.push_back(*piece);
    } else {
      std::swap(pieces[random() % pieces.size()], pieces.back());
      taken -= pieces.back().size();
      arena.release(pieces.back());
      pieces.pop_back();
    }
    ASSERT_EQ(arena.free_bytes(), arena.size_bytes() - taken);
  }
  for (const auto piece : pieces) arena.release(piece);
  EXPECT_EQ(arena.num_gaps(), 1U);
  EXPECT_EQ(arena.free_bytes(), arena.size_bytes());
}

}  // namespace
}  // namespace kvc
