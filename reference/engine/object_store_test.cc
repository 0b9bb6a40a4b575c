// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/object_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/engine_test_support.h"

namespace kvc {
namespace {

using std::chrono::seconds;
constexpr std::size_t kBytes = 1000;
constexpr ObjectShape kShape{1};
constexpr RequestNumber kA = 1;
constexpr RequestNumber kB = 2;

ChunkHash chunk(std::uint8_t number) { return ChunkHash{number}; }

std::vector<ChunkHash> chunks(std::initializer_list<std::uint8_t> numbers) {
  std::vector<ChunkHash> out;
  for (const std::uint8_t number : numbers) out.push_back(chunk(number));
  return out;
}

// A store with room for five objects, on a clock that stands still.
class ObjectStoreTest : public testing::Test {
 protected:
  static Key worker_key(Int world_size = 1, std::optional<Int> worker = Int(0)) {
    Key key;
    key.model_name = "m";
    key.world_size = world_size;
    key.worker_id = worker;
    return key;
  }
  static std::vector<ObjectKey> keys(const std::vector<ChunkHash>& of, const Key& key) {
    WorkerScopes workers(key);
    std::vector<ObjectKey> out;
    for (const ChunkHash& hash : of) out.push_back({hash, workers.at(0)});
    return out;
  }
  static std::vector<ObjectKey> keys(std::initializer_list<std::uint8_t> numbers) {
    return keys(chunks(numbers), worker_key());
  }

  void store(std::initializer_list<std::uint8_t> numbers, const Key& key = worker_key()) {
    const auto objects = store_.reserve(keys(chunks(numbers), key), kBytes, kShape);
    ASSERT_TRUE(objects.ok()) << objects.error().text();
    store_.publish(*objects);
  }
  std::size_t lookup(std::initializer_list<std::uint8_t> numbers, RequestNumber request = kA,
                     std::uint64_t count = 1, const Key& key = worker_key()) {
    WorkerScopes workers(key);
    return store_.lock_leading_run(chunks(numbers), workers, kShape, request, count);
  }
  void free(std::initializer_list<std::uint8_t> numbers, RequestNumber request = kA,
            std::uint64_t count = 1) {
    WorkerScopes workers(worker_key());
    store_.release_locks(chunks(numbers), workers, request, count);
  }
  bool read(std::initializer_list<std::uint8_t> numbers, RequestNumber request = kA) {
    const auto objects = store_.begin_read(keys(numbers), kShape, request);
    store_.end_read(objects);
    return !objects.empty();
  }
  bool there(std::uint8_t number) { return store_.readable(keys({number})[0]); }

  test::FakeClock clock_;
  ObjectStore store_{
      ObjectStoreOptions{5 * Arena::rounded(kBytes), seconds(300), seconds(600), clock_.clock()}};
};

TEST_F(ObjectStoreTest, AnObjectIsReadableOnlyAfterPublish) {
  const auto objects = store_.reserve(keys({1}), kBytes, kShape);
  ASSERT_TRUE(objects.ok());
  EXPECT_EQ(lookup({1}), 0U);
  store_.publish(*objects);
  EXPECT_EQ(lookup({1}), 1U);
}

TEST_F(ObjectStoreTest, TheFirstWriterWins) {
  const auto first = store_.reserve(keys({1}), kBytes, kShape);
  ASSERT_TRUE(first.ok());
  const auto second = store_.reserve(keys({1, 2}), kBytes, kShape);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ((*second)[0], nullptr);
  ASSERT_NE((*second)[1], nullptr);
  store_.publish(*second);
  EXPECT_FALSE(there(1));  // still the first writer's
  EXPECT_TRUE(there(2));
}

TEST_F(ObjectStoreTest, AbandonedObjectsLeaveNothing) {
  {
    const auto objects = store_.reserve(keys({1, 2}), kBytes, kShape);
    ASSERT_TRUE(objects.ok());
    store_.abandon(*objects);
  }
  EXPECT_EQ(store_.num_objects(), 0U);
  EXPECT_EQ(store_.free_bytes(), store_.size_bytes());
  store({1, 2});
  EXPECT_EQ(lookup({1, 2}), 2U);
}

TEST_F(ObjectStoreTest, AWriteLockThatExpiredIsAsIfItHadNeverBeen) {
  const auto late = store_.reserve(keys({1}), kBytes, kShape);
  ASSERT_TRUE(late.ok());
  clock_.advance(seconds(600));
  const auto next = store_.reserve(keys({1}), kBytes, kShape);
  ASSERT_TRUE(next.ok());
  ASSERT_NE((*next)[0], nullptr);
  EXPECT_NE((*next)[0]->bytes(), (*late)[0]->bytes());  // the late writer may still be at it
  store_.publish(*late);
  EXPECT_FALSE(there(1));
  store_.publish(*next);
  EXPECT_TRUE(there(1));
}

TEST_F(ObjectStoreTest, ALateWriterPublishesNothing) {
  const auto late = store_.reserve(keys({1}), kBytes, kShape);
  ASSERT_TRUE(late.ok());
  clock_.advance(seconds(600));
  store_.publish(*late);
  EXPECT_FALSE(there(1));
  EXPECT_EQ(store_.num_objects(), 0U);
}

TEST_F(ObjectStoreTest, ALookupLocksTheLeadingRunOnly) {
  store({1, 2, 4});
  EXPECT_EQ(lookup({1, 2, 3, 4}), 2U);
  EXPECT_EQ(store_.num_read_locks(keys({2})[0]), 1U);
  EXPECT_EQ(store_.num_read_locks(keys({4})[0]), 0U);
  EXPECT_EQ(lookup({3, 4}), 0U);
  EXPECT_EQ(store_.num_read_locks(keys({4})[0]), 0U);
}

TEST_F(ObjectStoreTest, AChunkCountsOnlyWhenEveryWorkerHasIt) {
  store({1, 2}, worker_key(2, Int(0)));
  store({1}, worker_key(2, Int(1)));
  EXPECT_EQ(lookup({1, 2}, kA, 1, worker_key(2, std::nullopt)), 1U);
  // The half of chunk 2 is not left locked.
  EXPECT_EQ(store_.num_read_locks(keys(chunks({2}), worker_key(2, Int(0)))[0]), 0U);
  EXPECT_EQ(store_.num_read_locks(keys(chunks({1}), worker_key(2, Int(1)))[0]), 1U);
  EXPECT_EQ(lookup({1}, kA, 1, worker_key(Int(~std::uint64_t{0}), std::nullopt)), 0U);
}

TEST_F(ObjectStoreTest, AReadNeedsALockOnEveryObject) {
  store({1, 2});
  EXPECT_FALSE(read({1}));
  EXPECT_EQ(lookup({1}), 1U);
  EXPECT_FALSE(read({1, 2}));
  EXPECT_EQ(store_.num_read_locks(keys({1})[0]), 1U);  // nothing was taken
  EXPECT_TRUE(read({1}));
  EXPECT_FALSE(read({1}));
}

TEST_F(ObjectStoreTest, NLocksServeNReads) {
  store({1});
  EXPECT_EQ(lookup({1}, kA, 4), 1U);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(read({1}));
  EXPECT_FALSE(read({1}));
}

TEST_F(ObjectStoreTest, FreeReleasesTheRequestsLocksInTheRangeOnly) {
  store({1, 2});
  lookup({1, 2}, kA);
  lookup({1, 2}, kB);
  for (int i = 0; i < 5; ++i) free({1}, kB);
  EXPECT_EQ(store_.num_read_locks(keys({1})[0]), 1U);
  EXPECT_EQ(store_.num_read_locks(keys({2})[0]), 2U);
  EXPECT_TRUE(read({1, 2}, kA));
  EXPECT_FALSE(read({1}, kB));
}

TEST_F(ObjectStoreTest, ReadLocksExpire) {
  store({1});
  lookup({1});
  clock_.advance(seconds(300));
  EXPECT_FALSE(read({1}));
  EXPECT_EQ(store_.num_read_locks(keys({1})[0]), 0U);
}

TEST_F(ObjectStoreTest, EvictsTheLeastRecentlyUsed) {
  store({1});
  store({2, 3});
  store({4, 5});
  store({6});
  EXPECT_FALSE(there(1));
  store({7});
  EXPECT_TRUE(there(2));  // of one request the tail goes first
  EXPECT_FALSE(there(3));
}

TEST_F(ObjectStoreTest, TouchKeepsAnObject) {
  store({1});
  store({2, 3, 4, 5});
  WorkerScopes workers(worker_key());
  store_.touch(chunks({1}), workers);
  store({6});
  EXPECT_TRUE(there(1));
  EXPECT_FALSE(there(5));
}

TEST_F(ObjectStoreTest, NeverEvictsALockedObject) {
  store({1, 2, 3, 4, 5});
  lookup({1, 2, 3});
  store({6, 7});
  for (const int number : {1, 2, 3, 6, 7})
    EXPECT_TRUE(there(static_cast<std::uint8_t>(number))) << number;
  const auto none = store_.reserve(keys({8, 9, 10}), kBytes, kShape);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Errc::kNoMemory);
  EXPECT_TRUE(there(6)) << "evicted in vain";
  free({1});
  store({8, 9, 10});
  EXPECT_TRUE(there(2));
  EXPECT_FALSE(there(1));
}

TEST_F(ObjectStoreTest, NeverEvictsAnObjectThatIsBeingRead) {
  store({1});
  lookup({1});
  const auto reading = store_.begin_read(keys({1}), kShape, kA);
  ASSERT_EQ(reading.size(), 1U);
  store({2, 3, 4, 5});
  store({6});
  EXPECT_TRUE(there(1));
  store_.end_read(reading);
  store({7, 8, 9, 10});
  EXPECT_TRUE(there(1));  // it was used after the others
  store({11});
  EXPECT_FALSE(there(1));
}

TEST_F(ObjectStoreTest, MoreThanTheArenaIsRefused) {
  EXPECT_FALSE(store_.reserve(keys({1, 2, 3, 4, 5, 6}), kBytes, kShape).ok());
  EXPECT_FALSE(store_.reserve(keys({1}), ~std::size_t{0}, kShape).ok());
  EXPECT_EQ(store_.num_objects(), 0U);
}

TEST_F(ObjectStoreTest, ClearForgetsLockedObjectsAndKeepsTheBytesOfReaders) {
  store({1, 2});
  lookup({1, 2});
  auto reading = store_.begin_read(keys({1}), kShape, kA);
  ASSERT_EQ(reading.size(), 1U);
  std::fill_n(reading[0]->bytes(), kBytes, std::uint8_t{7});
  const auto writing = store_.reserve(keys({3}), kBytes, kShape);
  ASSERT_TRUE(writing.ok());
  store_.clear();
  EXPECT_EQ(store_.num_objects(), 0U);
  store({4, 5, 6});
  EXPECT_EQ(std::count(reading[0]->bytes(), reading[0]->bytes() + kBytes, 7),
            static_cast<std::ptrdiff_t>(kBytes));
  store_.publish(*writing);
  EXPECT_FALSE(there(3));
  store_.end_read(reading);
  reading.clear();
  EXPECT_EQ(store_.free_bytes(), Arena::rounded(kBytes));  // 3 is still held here
}

TEST_F(ObjectStoreTest, AnObjectOfAnotherShapeIsAMissAndGivesWay) {
  store({1});
  constexpr ObjectShape kOther{2};
  WorkerScopes workers(worker_key());
  EXPECT_EQ(store_.lock_leading_run(chunks({1}), workers, kOther, kA, 1), 0U);
  const auto objects = store_.reserve(keys({1}), 2 * kBytes, kOther);
  ASSERT_TRUE(objects.ok());
  EXPECT_NE((*objects)[0], nullptr);
}

TEST_F(ObjectStoreTest, AnyHistoryKeepsLockedObjectsAndGivesBackAllMemory) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int step = 0; step < 3000; ++step) {
    const auto number = static_cast<std::uint8_t>(random() % 12);
    switch (random() % 5) {
      case 0:
      case 1: {
        const auto objects = store_.reserve(keys({number}), 1 + random() % (3 * kBytes), kShape);
        if (objects.ok() && random() % 4 != 0) store_.publish(*objects);
        if (objects.ok()) store_.abandon(*objects);
        break;
      }
      case 2:
        lookup({number}, random() % 3);
        break;
      case 3:
        free({number}, random() % 3);
        break;
      default:
        read({number}, random() % 3);
    }
    for (std::uint8_t other = 0; other < 12; ++other)
      ASSERT_TRUE(there(other) || store_.num_read_locks(keys({other})[0]) == 0);
  }
  store_.clear();
  EXPECT_EQ(store_.free_bytes(), store_.size_bytes());
}

}  // namespace
}  // namespace kvc
