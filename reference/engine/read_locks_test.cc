// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/read_locks.h"

#include <gtest/gtest.h>

namespace kvc {
namespace {

constexpr RequestNumber kA = 1;
constexpr RequestNumber kB = 2;
constexpr RequestNumber kC = 3;
const TimePoint kNow{};
const TimePoint kLater = kNow + std::chrono::seconds(300);

TEST(ReadLocks, CountPerRequest) {
  ReadLocks locks;
  locks.add(kA, 1, kLater, kNow);
  locks.add(kA, 3, kLater, kNow);
  locks.add(kB, 1, kLater, kNow);
  EXPECT_EQ(locks.count(kNow), 5U);
  locks.release(kA, 2, kNow);
  EXPECT_EQ(locks.count(kNow), 3U);
}

TEST(ReadLocks, FreeNeverReleasesMoreThanItsOwn) {
  ReadLocks locks;
  locks.add(kA, 1, kLater, kNow);
  locks.add(kB, 1, kLater, kNow);
  for (int i = 0; i < 5; ++i) locks.release(kB, 1, kNow);
  locks.release(kC, 128, kNow);
  EXPECT_EQ(locks.count(kNow), 1U);
  EXPECT_TRUE(locks.take(kA, kNow));
  EXPECT_FALSE(locks.locked(kNow));
}

TEST(ReadLocks, ARequestThatUsedUpItsOwnGetsNobodyElses) {
  ReadLocks locks;
  locks.add(kA, 1, kLater, kNow);
  locks.add(kB, 1, kLater, kNow);
  EXPECT_TRUE(locks.take(kB, kNow));
  EXPECT_EQ(locks.num_takable(kB, kNow), 0u);
  EXPECT_FALSE(locks.take(kB, kNow));
  EXPECT_TRUE(locks.take(kA, kNow));
}

TEST(ReadLocks, ARequestThatNeverLookedUpMayTakeTheOldest) {
  ReadLocks locks;
  locks.add(kA, 1, kLater, kNow);
  EXPECT_TRUE(locks.take(kC, kNow));
  EXPECT_FALSE(locks.take(kC, kNow));
  EXPECT_FALSE(locks.take(kA, kNow));
}

TEST(ReadLocks, Expire) {
  ReadLocks locks;
  locks.add(kA, 2, kLater, kNow);
  EXPECT_TRUE(locks.locked(kLater - std::chrono::seconds(1)));
  EXPECT_FALSE(locks.locked(kLater));
  EXPECT_FALSE(locks.take(kA, kLater));
  EXPECT_EQ(locks.count(kLater), 0U);
}

TEST(ReadLocks, ALookupRenewsOnlyItsRequestsLocks) {
  ReadLocks locks;
  locks.add(kA, 1, kLater, kNow);
  locks.add(kB, 1, kLater, kNow);
  locks.add(kA, 1, kLater + std::chrono::seconds(100), kNow + std::chrono::seconds(100));
  EXPECT_EQ(locks.count(kLater), 2U);
  EXPECT_EQ(locks.num_takable(kB, kLater + std::chrono::seconds(100)), 0u);
}

TEST(ReadLocks, ExpiredLocksDoNotComeBackWithANewOne) {
  ReadLocks locks;
  locks.add(kA, 5, kLater, kNow);
  locks.add(kA, 1, kLater + std::chrono::seconds(300), kLater);
  EXPECT_EQ(locks.count(kLater), 1U);
}

TEST(ReadLocks, ShareARecordAboveTheMostHolders) {
  ReadLocks locks;
  for (RequestNumber i = 0; i < ReadLocks::kHoldersMax + 10; ++i)
    locks.add(100 + i, 1, kLater, kNow);
  EXPECT_EQ(locks.count(kNow), ReadLocks::kHoldersMax + 10);
  for (RequestNumber i = 0; i < ReadLocks::kHoldersMax + 10; ++i)
    EXPECT_TRUE(locks.take(100 + i, kNow)) << i;
  EXPECT_FALSE(locks.locked(kNow));
}

}  // namespace
}  // namespace kvc
