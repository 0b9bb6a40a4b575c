// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/engine_test_support.h"

namespace kvc {
namespace {

using std::chrono::seconds;
using test::blocks_from;
using test::kBlocksPerChunk;
using test::kChunkSize;
using test::make_key;
using test::tokens_from;

// An engine with room for eight objects, and one instance, number 1, registered for "model".
class EngineTest : public testing::Test {
 protected:
  void SetUp() override { instance_.register_at(engine_, 1); }

  EngineOptions options() {
    EngineOptions options;
    options.chunk_size = kChunkSize;
    options.l1_size_bytes = 8 * test::kObjectBytes;
    options.clock = clock_.clock();
    return options;
  }

  TransferResult store(const Key& key, const IntArray& blocks) {
    auto result = engine_.store(key, 1, blocks, instance_.ready_event());
    EXPECT_TRUE(result.ok()) << result.error().text();
    if (!result.ok()) return {};
    instance_.wait(*result);
    return *result;
  }
  // A prompt of `num_chunks` chunks, stored from blocks that are filled for it.
  Key stored(std::uint32_t first_token, std::size_t num_chunks = 1) {
    const Key key = make_key(tokens_from(first_token, num_chunks * kChunkSize));
    for (std::size_t i = 0; i < num_chunks * kBlocksPerChunk; ++i)
      instance_.fill(i, first_token + static_cast<std::uint32_t>(i));
    EXPECT_TRUE(store(key, blocks_from(0, num_chunks * kBlocksPerChunk)).ok);
    return key;
  }
  Int lookup(const Key& key, Int tp_size = 1) {
    EXPECT_TRUE(engine_.lookup(key, tp_size).ok());
    return **engine_.query_prefetch_status(key.request_id);
  }
  TransferResult retrieve(const Key& key, const IntArray& blocks, Int skip = 0) {
    auto result = engine_.retrieve(key, 1, blocks, instance_.ready_event(), skip);
    EXPECT_TRUE(result.ok()) << result.error().text();
    if (!result.ok()) return {};
    instance_.wait(*result);
    return *result;
  }
  // Whether blocks from `at` hold what stored(first_token) put there.
  void expect_blocks(std::size_t at, std::uint32_t first_token, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_EQ(instance_.block(at + i),
                instance_.filled(first_token + static_cast<std::uint32_t>(i)))
          << "block " << at + i;
  }
  std::size_t free_bytes() { return engine_.objects().free_bytes(); }

  test::FakeClock clock_;
  std::unique_ptr<Device> device_ = create_host_device(test::shm_prefix("s"));
  Engine engine_{options(), *device_};
  test::PlayedInstance instance_;
};

TEST_F(EngineTest, WhatIsStoredComesBackExactly) {
  const Key key = stored(100, 3);
  EXPECT_EQ(lookup(key), 3);
  EXPECT_TRUE(retrieve(key, blocks_from(8, 6)).ok);
  expect_blocks(8, 100, 6);
  EXPECT_FALSE(retrieve(key, blocks_from(8, 6)).ok) << "without a new lookup";
}

TEST_F(EngineTest, StoreReadsOnlyAfterTheClientsEvent) {
  const Key key = make_key(tokens_from(5, kChunkSize));
  ManualHostEvent event(instance_.device());
  instance_.fill_all(0xee);
  const auto result = engine_.store(key, 1, blocks_from(0, 2), event.ipc_handle());
  ASSERT_TRUE(result.ok() && result->ok) << "answered before the copy";
  EXPECT_EQ(lookup(key), 0) << "not readable before the copy";
  instance_.fill(0, 5);
  instance_.fill(1, 6);
  event.complete();
  instance_.wait(*result);
  EXPECT_EQ(lookup(key), 1) << "readable after the returned event";
  instance_.fill_all(0);
  EXPECT_TRUE(retrieve(key, blocks_from(4, 2)).ok);
  expect_blocks(4, 5, 2);
}

TEST_F(EngineTest, RetrieveWritesOnlyAfterTheClientsEvent) {
  const Key key = stored(5);
  EXPECT_EQ(lookup(key), 1);
  ManualHostEvent event(instance_.device());
  instance_.fill_all(0xee);
  const Bytes before = instance_.block(4);
  const auto result = engine_.retrieve(key, 1, blocks_from(4, 2), event.ipc_handle(), 0);
  ASSERT_TRUE(result.ok() && result->ok);
  EXPECT_EQ(instance_.block(4), before);
  event.complete();
  instance_.wait(*result);
  expect_blocks(4, 5, 2);
}

TEST_F(EngineTest, RetrieveWithoutAnEventWaitsForNothing) {
  const Key key = stored(5);
  EXPECT_EQ(lookup(key), 1);
  const auto result = engine_.retrieve(key, 1, blocks_from(4, 2), Bytes{}, 0);
  ASSERT_TRUE(result.ok() && result->ok);
  instance_.wait(*result);
  expect_blocks(4, 5, 2);
}

TEST_F(EngineTest, RefusesWhatCannotBeServedWithoutEffect) {
  const Key good = stored(5, 2);
  EXPECT_EQ(lookup(good), 2);
  const std::size_t free_before = free_bytes();
  const Key fresh = make_key(tokens_from(500, 2 * kChunkSize));
  std::vector<std::pair<std::string, Key>> bad;
  const auto add = [&](const std::string& name, auto change) {
    for (Key key : {good, fresh}) {
      change(key);
      bad.emplace_back(name, key);
    }
  };
  add("worker_id None", [](Key& key) { key.worker_id.reset(); });
  add("start unaligned", [](Key& key) { key.start = 1; });
  add("end unaligned", [](Key& key) { key.end = Int(kChunkSize + 1); });
  add("end beyond", [](Key& key) { key.end = Int(3 * kChunkSize); });
  add("start > end", [](Key& key) { key.start = Int(2 * kChunkSize), key.end = Int(kChunkSize); });
  add("negative start", [](Key& key) { key.start = -8; });
  add("huge end", [](Key& key) { key.end = ~std::uint64_t{7}; });
  add("token -1", [](Key& key) {
    std::vector<Int> tokens = key.token_ids.to_vector();
    tokens[3] = -1;
    key.token_ids = IntArray::of(tokens);
  });
  add("model with @", [](Key& key) { key.model_name = "a@b"; });
  for (const auto& [name, key] : bad) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(engine_.store(key, 1, blocks_from(0, 4), instance_.ready_event()).ok());
    EXPECT_FALSE(engine_.retrieve(key, 1, blocks_from(0, 4), instance_.ready_event(), 0).ok());
  }
  for (const Bytes& handle :
       {Bytes(), Bytes(64), Bytes(63, 'x'), to_bytes(as_bytes("KVHOSTE1/no"))}) {
    EXPECT_FALSE(engine_.store(fresh, 1, blocks_from(0, 4), handle).ok());
    if (!handle.empty()) {
      EXPECT_FALSE(engine_.retrieve(good, 1, blocks_from(0, 4), handle, 0).ok());
    }
  }
  EXPECT_FALSE(engine_.store(fresh, 2, blocks_from(0, 4), instance_.ready_event()).ok());
  EXPECT_FALSE(engine_.retrieve(good, 2, blocks_from(0, 4), instance_.ready_event(), 0).ok());
  EXPECT_EQ(free_bytes(), free_before);
  EXPECT_EQ(lookup(fresh), 0);
  EXPECT_TRUE(retrieve(good, blocks_from(4, 4)).ok) << "its locks are still there";
}

TEST_F(EngineTest, BadBlockIdsAreFalseAndLeaveTheKeyStorable) {
  const Key key = make_key(tokens_from(5, 2 * kChunkSize));
  const std::vector<IntArray> bad{IntArray{},
                                  blocks_from(0, 3),
                                  IntArray{0, 1, 2, Int(test::kNumBlocks)},
                                  IntArray{0, -1, 2, 3},
                                  IntArray{0, 1, 2, std::int64_t{1} << 40},
                                  IntArray{~std::uint64_t{0}, 1, 2, 3}};
  for (const IntArray& blocks : bad) {
    const TransferResult result = store(key, blocks);
    EXPECT_FALSE(result.ok);
    EXPECT_EQ(result.event_handle.size(), 64U);
    EXPECT_EQ(lookup(key), 0);
  }
  stored(5, 2);
  EXPECT_EQ(lookup(key), 2);
  instance_.fill_all(0xaa);
  const Bytes before = instance_.block(0);
  for (const IntArray& blocks : bad) EXPECT_FALSE(retrieve(key, blocks).ok);
  for (std::size_t block = 0; block < test::kNumBlocks; ++block)
    EXPECT_EQ(instance_.block(block), before);
  EXPECT_TRUE(retrieve(key, blocks_from(0, 4)).ok);
}

TEST_F(EngineTest, AnEmptyRangeStoresNothing) {
  Key key = make_key(tokens_from(5, kChunkSize));
  key.end = 0;
  EXPECT_TRUE(store(key, {}).ok);
  EXPECT_FALSE(retrieve(key, {}).ok);
  EXPECT_EQ(engine_.objects().num_objects(), 0U);
}

TEST_F(EngineTest, StoresARangeOfAPrompt) {
  stored(5, 1);
  Key key = make_key(tokens_from(5, 3 * kChunkSize));
  key.start = Int(kChunkSize);
  EXPECT_TRUE(store(key, blocks_from(4, 4)).ok);
  EXPECT_EQ(lookup(make_key(tokens_from(5, 3 * kChunkSize + 7))), 3);
}

TEST_F(EngineTest, TheFirstWriterWins) {
  const Key key = stored(5);
  instance_.fill_all(0xee);
  EXPECT_TRUE(store(key, blocks_from(0, 2)).ok);
  EXPECT_EQ(lookup(key), 1);
  EXPECT_TRUE(retrieve(key, blocks_from(4, 2)).ok);
  expect_blocks(4, 5, 2);
}

TEST_F(EngineTest, WithoutRoomNothingIsStored) {
  const Key big = make_key(tokens_from(5, 8 * kChunkSize));
  const Key locked = stored(900);
  EXPECT_EQ(lookup(locked), 1);
  EXPECT_FALSE(store(big, blocks_from(0, 16)).ok);
  EXPECT_EQ(lookup(big), 0);
  EXPECT_TRUE(retrieve(locked, blocks_from(0, 2)).ok);
  EXPECT_TRUE(store(big, blocks_from(0, 16)).ok);
  EXPECT_EQ(lookup(big), 8);
}

TEST_F(EngineTest, StoringThreeTimesTheRoomAlwaysSucceeds) {
  for (std::uint32_t i = 0; i < 24; ++i) {
    const Key key = stored(1000 * i);
    EXPECT_EQ(lookup(key), 1);
    EXPECT_TRUE(engine_.free_lookup_locks(key, 1).ok());
  }
}

TEST_F(EngineTest, SkippedTokensAreRoundedDownToABlock) {
  const Key key = stored(5, 2);
  instance_.fill_all(0xee);
  const Bytes untouched = instance_.block(0);
  const std::vector<std::pair<Int, std::size_t>> skips{
      {-5, 0}, {0, 0}, {1, 0},  {3, 0},  {4, 1},  {7, 1},
      {8, 2},  {9, 2}, {12, 3}, {16, 4}, {17, 4}, {~std::uint64_t{0}, 4}};
  for (const auto& [skip, num_blocks] : skips) {
    SCOPED_TRACE(skip.to_string());
    instance_.fill_all(0xee);
    EXPECT_EQ(lookup(key), 2);
    EXPECT_TRUE(retrieve(key, blocks_from(8, 4), skip).ok);
    for (std::size_t i = 0; i < num_blocks; ++i) EXPECT_EQ(instance_.block(8 + i), untouched);
    expect_blocks(8 + num_blocks, 5 + static_cast<std::uint32_t>(num_blocks), 4 - num_blocks);
    EXPECT_EQ(instance_.block(7), untouched);
    EXPECT_EQ(instance_.block(12), untouched);
  }
}

TEST_F(EngineTest, FreeByOneRequestLeavesAnothersLock) {
  Key a = stored(5, 2);
  Key b = a;
  a.request_id = "a";
  b.request_id = "b";
  EXPECT_EQ(lookup(a), 2);
  EXPECT_EQ(lookup(b), 2);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(engine_.free_lookup_locks(b, 1).ok());
  for (std::uint32_t i = 1; i < 20; ++i) stored(1000 * i);
  EXPECT_TRUE(retrieve(a, blocks_from(8, 4)).ok);
  expect_blocks(8, 5, 4);
}

TEST_F(EngineTest, FreeReleasesTheRangeOnly) {
  const Key key = stored(5, 4);
  EXPECT_EQ(lookup(key), 4);
  Key first_half = key;
  first_half.end = Int(2 * kChunkSize);
  EXPECT_TRUE(engine_.free_lookup_locks(first_half, 1).ok());
  Key second_half = key;
  second_half.start = Int(2 * kChunkSize);
  EXPECT_FALSE(retrieve(first_half, blocks_from(8, 4)).ok);
  EXPECT_TRUE(retrieve(second_half, blocks_from(8, 4)).ok);
  expect_blocks(8, 5 + 4, 4);
}

TEST_F(EngineTest, FreeWithAnotherSaltOrOddRangesReleasesNothing) {
  const Key key = stored(5, 2);
  EXPECT_EQ(lookup(key), 2);
  Key other = key;
  other.cache_salt = "other";
  EXPECT_TRUE(engine_.free_lookup_locks(other, 1).ok());
  for (const auto& [start, end] : std::vector<std::pair<Int, Int>>{
           {1, 8}, {0, 7}, {9, 15}, {8, 8}, {16, 8}, {-8, 0}, {0, -8}, {16, 99}}) {
    other = key;
    other.start = start;
    other.end = end;
    EXPECT_TRUE(engine_.free_lookup_locks(other, 1).ok());
  }
  EXPECT_TRUE(retrieve(key, blocks_from(8, 4)).ok);
}

TEST_F(EngineTest, EveryTensorParallelRankHasItsLock) {
  const Key key = stored(5);
  EXPECT_EQ(lookup(key, 4), 1);
  for (int rank = 0; rank < 4; ++rank) EXPECT_TRUE(retrieve(key, blocks_from(4, 2)).ok);
  EXPECT_FALSE(retrieve(key, blocks_from(4, 2)).ok);
  EXPECT_EQ(lookup(key, 4), 1);
  EXPECT_TRUE(engine_.free_lookup_locks(key, 4).ok());
  EXPECT_FALSE(retrieve(key, blocks_from(4, 2)).ok);
}

TEST(NumLocks, IsTpSizeWhenAllRanksReadOneObject) {
  EXPECT_EQ(num_locks(1, 1), 1U);
  EXPECT_EQ(num_locks(4, 1), 4U);
  EXPECT_EQ(num_locks(4, 4), 1U);
  EXPECT_EQ(num_locks(4, 8), 1U);
  EXPECT_EQ(num_locks(0, 8), 1U);
  EXPECT_EQ(num_locks(-3, -8), 1U);
  EXPECT_EQ(num_locks(~std::uint64_t{0}, 1), 128U);
}

TEST_F(EngineTest, SaltAndModelArePartOfTheKey) {
  const Key key = stored(5);
  instance_.register_at(engine_, 2, "other model");
  Key other = key;
  other.cache_salt = "tenant";
  EXPECT_EQ(lookup(other), 0);
  other = key;
  other.model_name = "other model";
  EXPECT_EQ(lookup(other), 0);
  EXPECT_EQ(lookup(key), 1);
}

TEST_F(EngineTest, ALookupOfAnUnregisteredModelFindsNothing) {
  Key key = stored(5);
  key.world_size = 2;
  EXPECT_EQ(lookup(key), 0);
  EXPECT_TRUE(engine_.unregister_kv_cache(1).ok());
  key.world_size = 1;
  EXPECT_EQ(lookup(key), 0);
  instance_.register_at(engine_, 3);
  EXPECT_EQ(lookup(key), 1) << "the objects outlive the instance";
}

TEST_F(EngineTest, CountsFullChunksOnly) {
  stored(5, 2);
  for (const auto& [num_tokens, hits] : std::vector<std::pair<std::size_t, int>>{
           {0, 0}, {7, 0}, {8, 1}, {9, 1}, {15, 1}, {16, 2}, {30, 2}})
    EXPECT_EQ(lookup(make_key(tokens_from(5, num_tokens))), hits) << num_tokens;
}

TEST_F(EngineTest, QueryStatusAnswersOnceAndHitsOften) {
  const Key key = stored(5);
  EXPECT_TRUE(engine_.lookup(key, 1).ok());
  EXPECT_EQ(**engine_.query_prefetch_lookup_hits("r"), 1);
  EXPECT_EQ(**engine_.query_prefetch_lookup_hits("r"), 1);
  EXPECT_EQ(**engine_.query_prefetch_status("r"), 1);
  EXPECT_EQ(**engine_.query_prefetch_status("r"), 0);
  EXPECT_EQ(**engine_.query_prefetch_lookup_hits("r"), 0);
  EXPECT_EQ(**engine_.query_prefetch_status("unknown"), 0);
}

TEST_F(EngineTest, AReusedRequestIdIsAnsweredByItsTokens) {
  stored(5);
  Key other = make_key(tokens_from(700, kChunkSize));
  EXPECT_EQ(lookup(other), 0);
  instance_.fill(2, 700);
  instance_.fill(3, 701);
  EXPECT_TRUE(store(other, blocks_from(2, 2)).ok);
  EXPECT_EQ(lookup(other), 1);
  EXPECT_TRUE(retrieve(other, blocks_from(8, 2)).ok);
  expect_blocks(8, 700, 2);
}

TEST_F(EngineTest, ReadLocksExpireByTheClock) {
  const Key key = stored(5);
  EXPECT_EQ(lookup(key), 1);
  clock_.advance(seconds(300));
  EXPECT_FALSE(retrieve(key, blocks_from(4, 2)).ok);
}

TEST_F(EngineTest, EndSessionMarksItsObjectsAsUsedAndKeepsItsLocks) {
  const Key first = stored(5);
  EXPECT_EQ(lookup(first), 1);
  EXPECT_TRUE(engine_.free_lookup_locks(first, 1).ok());
  for (std::uint32_t i = 1; i < 8; ++i) stored(1000 * i);
  EXPECT_TRUE(engine_.end_session("r").ok());
  EXPECT_TRUE(engine_.end_session("r").ok());
  EXPECT_TRUE(engine_.end_session("unknown").ok());
  for (std::uint32_t i = 8; i < 15; ++i) stored(1000 * i);
  EXPECT_EQ(lookup(first), 1);
  EXPECT_TRUE(engine_.end_session("r").ok());
  EXPECT_TRUE(retrieve(first, blocks_from(4, 2)).ok);
}

TEST_F(EngineTest, ClearWhileACopyIsInFlightHarmsNothing) {
  const Key key = make_key(tokens_from(5, kChunkSize));
  ManualHostEvent event(instance_.device());
  const auto result = engine_.store(key, 1, blocks_from(0, 2), event.ipc_handle());
  ASSERT_TRUE(result.ok() && result->ok);
  EXPECT_TRUE(engine_.clear().ok());
  event.complete();
  instance_.wait(*result);
  EXPECT_EQ(lookup(key), 0);
  EXPECT_EQ(free_bytes(), engine_.objects().size_bytes());
  stored(5);
  EXPECT_EQ(lookup(key), 1);
}

TEST_F(EngineTest, ClearForgetsLockedObjects) {
  const Key key = stored(5);
  EXPECT_EQ(lookup(key), 1);
  EXPECT_TRUE(engine_.clear().ok());
  EXPECT_FALSE(retrieve(key, blocks_from(4, 2)).ok);
}

TEST_F(EngineTest, UnregisterWhileACopyIsInFlightLetsItFinish) {
  const Key key = make_key(tokens_from(5, kChunkSize));
  instance_.fill(0, 5);
  instance_.fill(1, 6);
  ManualHostEvent event(instance_.device());
  const auto result = engine_.store(key, 1, blocks_from(0, 2), event.ipc_handle());
  ASSERT_TRUE(result.ok() && result->ok);
  EXPECT_TRUE(engine_.unregister_kv_cache(1).ok());
  EXPECT_TRUE(engine_.unregister_kv_cache(1).ok());
  event.complete();
  instance_.wait(*result);
  instance_.register_at(engine_, 1);
  EXPECT_EQ(lookup(key), 1);
  EXPECT_TRUE(retrieve(key, blocks_from(4, 2)).ok);
  expect_blocks(4, 5, 2);
}

TEST_F(EngineTest, EndsWhileAStreamWaitsForEver) {
  Engine engine(options(), *device_);
  instance_.register_at(engine, 7);
  instance_.register_at(engine, 8);
  ManualHostEvent event(instance_.device());
  const Key key = make_key(tokens_from(5, kChunkSize));
  const Key other = make_key(tokens_from(6, kChunkSize));
  ASSERT_TRUE(engine.store(key, 7, blocks_from(0, 2), event.ipc_handle()).ok());
  ASSERT_TRUE(engine.store(other, 8, blocks_from(0, 2), event.ipc_handle()).ok());
  ASSERT_TRUE(engine.unregister_kv_cache(8).ok());
}

TEST_F(EngineTest, ASecondRegistrationOfAnInstanceIsIgnored) {
  test::PlayedInstance other;
  other.register_at(engine_, 1);  // answered
  const Key key = stored(5);      // from the first one's buffers
  EXPECT_EQ(lookup(key), 1);
  EXPECT_TRUE(retrieve(key, blocks_from(4, 2)).ok);
  expect_blocks(4, 5, 2);
}

TEST_F(EngineTest, AnInstanceWithOtherObjectsOfTheSameModelIsRefused) {
  test::PlayedInstance other(test::kSlotBytes / 2);
  const auto registered =
      engine_.register_kv_cache(2, other.kv_cache(), "model", 1, EngineType::kVllm, {});
  EXPECT_FALSE(registered.ok());
  EXPECT_FALSE(
      engine_.store(make_key(tokens_from(5, 8)), 2, blocks_from(0, 2), instance_.ready_event())
          .ok());
  other.register_at(engine_, 2, "model", 2);
  // Nor can it write what the first one would read.
  EXPECT_FALSE(
      engine_.store(make_key(tokens_from(5, 8)), 2, blocks_from(0, 2), instance_.ready_event())
          .ok());
}

TEST_F(EngineTest, AModelMayComeBackWithAnotherLayout) {
  const Key key = stored(5);
  EXPECT_EQ(lookup(key), 1);
  EXPECT_TRUE(engine_.unregister_kv_cache(1).ok());
  test::PlayedInstance other(test::kSlotBytes * 2);
  other.register_at(engine_, 2);
  EXPECT_EQ(lookup(key), 0) << "objects of the old layout do not count";
  other.fill(0, 5);
  other.fill(1, 6);
  const auto result = engine_.store(key, 2, blocks_from(0, 2), other.ready_event());
  ASSERT_TRUE(result.ok() && result->ok);
  other.wait(*result);
  EXPECT_EQ(lookup(key), 1);
  const auto read = engine_.retrieve(key, 2, blocks_from(4, 2), other.ready_event(), 0);
  ASSERT_TRUE(read.ok() && read->ok);
  other.wait(*read);
  EXPECT_EQ(other.block(4), other.filled(5));
}

TEST_F(EngineTest, RefusesABlockSizeThatDoesNotDivideTheChunk) {
  EngineOptions odd = options();
  odd.chunk_size = 6;
  Engine engine(odd, *device_);
  EXPECT_FALSE(
      engine.register_kv_cache(1, instance_.kv_cache(), "m", 1, EngineType::kVllm, {}).ok());
}

TEST_F(EngineTest, ManyThreadsAtOnceKeepEveryByte) {
  // Each thread is a request of its own on the one instance, with blocks of its own.
  std::vector<std::thread> threads;
  for (std::uint32_t number = 0; number < 4; ++number) {
    threads.emplace_back([this, number] {
      test::PlayedInstance mine;
      mine.register_at(engine_, Int(100 + number));
      for (std::uint32_t round = 0; round < 30; ++round) {
        const std::uint32_t first = 10'000 * number + 100 * round;
        const Key key = make_key(tokens_from(first, kChunkSize), std::to_string(number));
        mine.fill(0, first);
        mine.fill(1, first + 1);
        const auto result =
            engine_.store(key, Int(100 + number), blocks_from(0, 2), mine.ready_event());
        ASSERT_TRUE(result.ok() && result->ok);
        mine.wait(*result);
        ASSERT_TRUE(engine_.lookup(key, 1).ok());
        // Another thread's stores may have evicted it before the lookup locked it.
        if (**engine_.query_prefetch_status(key.request_id) == Int(0)) continue;
        const auto read =
            engine_.retrieve(key, Int(100 + number), blocks_from(4, 2), mine.ready_event(), 0);
        ASSERT_TRUE(read.ok() && read->ok);
        mine.wait(*read);
        ASSERT_EQ(mine.block(4), mine.filled(first));
        ASSERT_EQ(mine.block(5), mine.filled(first + 1));
        if (number == 3 && round % 10 == 9) {
          ASSERT_TRUE(engine_.unregister_kv_cache(1).ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace kvc
