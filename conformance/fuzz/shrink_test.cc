// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/fuzz/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kvc::conformance {
namespace {

Steps numbered(std::size_t count) {
  Steps steps;
  for (std::size_t i = 0; i < count; ++i)
    steps.push_back({static_cast<int>(i % 3) + 1,
                     {{static_cast<std::uint8_t>(i)}, {0x0e}, Bytes(20, 0xaa), Bytes(300, 0xbb)},
                     i});
  return steps;
}

bool has_message(const Steps& steps, std::uint8_t uid) {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    return !step.frames.empty() && step.frames[0] == Bytes{uid};
  });
}

TEST(Shrink, FindsTheOneMessage) {
  const Shrunk shrunk =
      shrink(numbered(100), [](const Steps& steps) { return has_message(steps, 77); });
  ASSERT_EQ(shrunk.steps.size(), 1U);
  EXPECT_EQ(shrunk.steps[0], (Step{1, {{77}}, 77}));
  EXPECT_LT(shrunk.num_tries, 100U);
  EXPECT_FALSE(shrunk.given_up);
}

TEST(Shrink, KeepsMessagesThatNeedEachOtherInOrder) {
  const auto shows = [](const Steps& steps) {
    const auto place = [&](std::uint8_t uid) {
      return std::find_if(steps.begin(), steps.end(),
                          [&](const Step& step) { return step.frames[0] == Bytes{uid}; }) -
             steps.begin();
    };
    return has_message(steps, 3) && has_message(steps, 50) && has_message(steps, 99) &&
           place(3) < place(50) && place(50) < place(99);
  };
  const Shrunk shrunk = shrink(numbered(120), shows);
  ASSERT_EQ(shrunk.steps.size(), 3U);
  EXPECT_EQ(shrunk.steps[0].origin, 3U);
  EXPECT_EQ(shrunk.steps[1].origin, 50U);
  EXPECT_EQ(shrunk.steps[2].origin, 99U);
}

TEST(Shrink, KeepsTwoClientsWhereTwoAreNeeded) {
  const auto shows = [](const Steps& steps) {
    return std::any_of(steps.begin(), steps.end(),
                       [&](const Step& step) { return step.client != steps.front().client; });
  };
  const Shrunk shrunk = shrink(numbered(40), shows);
  ASSERT_EQ(shrunk.steps.size(), 2U);
  EXPECT_NE(shrunk.steps[0].client, shrunk.steps[1].client);
  const Shrunk one = shrink(numbered(40), [](const Steps& steps) { return steps.size() >= 2; });
  EXPECT_EQ(one.steps[0].client, 1);
  EXPECT_EQ(one.steps[1].client, 1);
}

TEST(Shrink, CutsFramesToTheBytesThatCount) {
  Steps steps = numbered(5);
  steps[2].frames[3][200] = 0xc1;
  const auto shows = [](const Steps& candidate) {
    return std::any_of(candidate.begin(), candidate.end(), [](const Step& step) {
      return step.frames.size() == 4 &&
             std::count(step.frames[3].begin(), step.frames[3].end(), 0xc1) == 1;
    });
  };
  const Shrunk shrunk = shrink(steps, shows);
  ASSERT_EQ(shrunk.steps.size(), 1U);
  EXPECT_EQ(shrunk.steps[0].frames, (Frames{{}, {}, {}, {0xc1}}));
}

TEST(Shrink, LeavesUidsAloneWhereTold) {
  ShrinkOptions options;
  options.keep_uids = true;
  const Shrunk shrunk = shrink(
      numbered(9), [](const Steps& steps) { return !steps.empty(); }, options);
  ASSERT_EQ(shrunk.steps.size(), 1U);
  EXPECT_EQ(shrunk.steps[0].frames.size(), 1U);
  EXPECT_EQ(shrunk.steps[0].frames[0].size(), 1U);
}

TEST(Shrink, TriesSuspectsFirst) {
  ShrinkOptions options;
  options.suspects = {77};
  options.tries_max = 1;
  const Shrunk shrunk = shrink(
      numbered(100), [](const Steps& steps) { return has_message(steps, 77); }, options);
  EXPECT_EQ(shrunk.steps.size(), 1U);
  EXPECT_TRUE(shrunk.given_up);
}

TEST(Shrink, GivesUpWithWhatItHas) {
  ShrinkOptions options;
  int left = 3;
  options.is_over = [&] { return left-- == 0; };
  const Shrunk shrunk = shrink(
      numbered(64), [](const Steps& steps) { return has_message(steps, 9); }, options);
  EXPECT_TRUE(shrunk.given_up);
  EXPECT_LT(shrunk.steps.size(), 64U);
  EXPECT_TRUE(has_message(shrunk.steps, 9));
}

// Whatever the predicate is, what comes out shows it, and nothing of it can go.
TEST(Shrink, EndsWhereNoMessageCanGo) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> needed(1 + random() % 6);
    for (std::uint8_t& uid : needed) uid = static_cast<std::uint8_t>(random() % 60);
    const auto shows = [&](const Steps& steps) {
      return std::all_of(needed.begin(), needed.end(),
                         [&](std::uint8_t uid) { return has_message(steps, uid); });
    };
    const Shrunk shrunk = shrink(numbered(60), shows);
    EXPECT_TRUE(shows(shrunk.steps)) << "seed " << seed;
    for (std::size_t i = 0; i < shrunk.steps.size(); ++i) {
      Steps less = shrunk.steps;
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_FALSE(shows(less)) << "seed " << seed << ", message " << i;
    }
  }
}

}  // namespace
}  // namespace kvc::conformance
