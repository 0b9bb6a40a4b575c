// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Eviction: what happens when more is stored than the cache holds. Needs to know how much that is,
// and that it is little (Capability small-cache).
//
// A server may evict when it needs room or from time to time: a STORE that found no room is asked
// again until it is found, within the run's timeout.
#include <algorithm>
#include <chrono>
#include <thread>

#include "conformance/cases/data_cases.h"
#include "conformance/harness/engine_player.h"
#include "conformance/harness/run_context.h"

namespace kvc::conformance {
namespace {

const std::vector<Capability> kNeeds = {Capability::kDevice, Capability::kSmallCache};

// A chunk takes about this part of the cache: few enough for a quick case, and enough that locked
// ones (of which the cases keep at most eight) leave room to evict in.
constexpr std::uint64_t kChunksOfACache = 40;
constexpr std::size_t kPlaces = 4;  // chunks that the played engine's memory holds

class SmallCache {
 public:
  explicit SmallCache(Case& test) : test_(test), player_(registered_player(test, shape(test))) {
    player_.clear();
    chunk_bytes_ = player_.geometry().block_bytes();
  }
  ~SmallCache() {
    try {
      player_.clear();  // whoever comes next has room
    } catch (...) {
    }
  }

  EnginePlayer& player() { return player_; }
  std::size_t more_than_capacity() const { return num_chunks_of_capacity() * 5 / 4; }
  std::size_t num_chunks_of_capacity() const { return capacity(test_) / chunk_bytes_; }

  // Stores one chunk that holds nothing but `stamp`, and sees to it that it is there.
  Tokens store(std::uint8_t stamp) {
    Tokens tokens = player_.fresh_chunks(1);
    player_.stamp(0, stamp);
    store(tokens, 0);
    return tokens;
  }
  // Leaves no lock.
  void store(const Tokens& tokens, std::size_t place) {
    const auto until = std::chrono::steady_clock::now() + test_.context().settings().timeout;
    while (true) {
      // True, or False where no room was.
      player_.store(player_.key(tokens), player_.blocks(place));
      const Key key = player_.key(tokens);
      if (player_.lookup(key) == Int(1)) {
        player_.free_locks(key);
        player_.end_session(key.request_id);
        return;
      }
      if (std::chrono::steady_clock::now() > until)
        test_.wrong("a STORE finds room in time", "it never did");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  // Stores `num` more chunks that nobody asks for again.
  void press(std::size_t num) {
    for (std::size_t i = 0; i < num; ++i) store(player_.fresh_chunks(1), 1);
  }

  bool found(const Tokens& tokens) {
    const Key key = player_.key(tokens);
    const bool is_there = player_.lookup(key) == Int(1);
    if (is_there) player_.free_locks(key);
    return is_there;
  }

  void expect_exact(const Key& locked, std::uint8_t stamp, const std::string& what) {
    const BlockIds target = player_.blocks(kPlaces);
    player_.stamp(target.front(), static_cast<std::uint8_t>(~stamp));
    player_.retrieve_ok(locked, target, 0, what + ", RETRIEVE");
    player_.expect_contents(target, {Bytes(player_.geometry().block_bytes(), stamp)}, what);
  }

 private:
  static std::uint64_t capacity(Case& test) {
    const std::optional<std::uint64_t> bytes = test.context().cache_bytes();
    if (!bytes) test.harness("the size of the cache is not known");
    return *bytes;
  }
  // One block a chunk, one long row a token.
  static EngineShape shape(Case& test) {
    EngineShape shape = tiny_shape(test, kPlaces + 1);
    shape.dtype = "float32";
    shape.head_size = std::max<std::size_t>(
        1, capacity(test) / kChunksOfACache / test.chunk_size() / sizeof(float));
    return shape;
  }

  Case& test_;
  EnginePlayer player_;
  std::size_t chunk_bytes_ = 0;
};

void three_times_the_capacity(Case& test) {
  SmallCache cache(test);
  EnginePlayer& player = cache.player();
  const std::size_t num = 3 * cache.num_chunks_of_capacity() + 5;
  for (std::size_t i = 0; i < num; ++i) {
    test.step("chunk " + std::to_string(i) + " of " + std::to_string(num));
    if (i % 8 != 0) {
      cache.press(1);
      continue;
    }
    const auto stamp = static_cast<std::uint8_t>(i);
    const Key key = player.key(cache.store(stamp));
    test.expect_equal(player.lookup(key), Int(1), "chunks found by LOOKUP of what was just stored");
    cache.expect_exact(key, stamp, "what was just stored");
  }
}

void locked_is_not_evicted(Case& test) {
  SmallCache cache(test);
  EnginePlayer& player = cache.player();
  std::vector<Key> locked;
  for (std::uint8_t i = 0; i < 3; ++i) {
    const Tokens tokens = cache.store(i);
    locked.push_back(player.key(tokens));
    test.expect_equal(player.lookup(locked.back()), Int(1), "chunks found by LOOKUP");
  }
  cache.press(cache.more_than_capacity());
  for (std::uint8_t i = 0; i < 3; ++i)
    cache.expect_exact(locked[i], i, "a locked chunk after more than the capacity");
}

void freed_keeps_the_rest_locked(Case& test) {
  SmallCache cache(test);
  EnginePlayer& player = cache.player();
  const Tokens tokens = player.fresh_chunks(4);
  Contents contents;
  for (std::uint8_t chunk = 0; chunk < 4; ++chunk) {
    player.stamp(chunk, chunk);
    contents.push_back(Bytes(player.geometry().block_bytes(), chunk));
  }
  player.store_ok(player.key(tokens), player.blocks(0, 4));
  const std::string id = test.unique("request");
  test.expect_equal(player.lookup(player.key(tokens, id)), Int(4), "chunks found by LOOKUP");
  player.free_locks(player.key_of(tokens, 0, 2, id));
  cache.press(cache.more_than_capacity());
  player.retrieve_ok(player.key_of(tokens, 2, 4, id), player.blocks(1, 2), 0,
                     "RETRIEVE of the chunks that were not freed");
  player.expect_contents(player.blocks(1, 2), Contents(contents.begin() + 2, contents.end()),
                         "the chunks that were not freed");
}

void free_steals_no_lock_under_pressure(Case& test) {
  SmallCache cache(test);
  EnginePlayer& player = cache.player();
  const Tokens tokens = cache.store(7);
  const Key of_a = player.key(tokens);
  const Key of_b = player.key(tokens);
  test.expect_equal(player.lookup(of_a), Int(1), "chunks found by A's LOOKUP");
  test.expect_equal(player.lookup(of_b), Int(1), "chunks found by B's LOOKUP");
  for (int i = 0; i < 5; ++i) player.free_locks(of_b);
  cache.press(cache.more_than_capacity());
  cache.expect_exact(of_a, 7, "A's chunk after B's five FREEs and more than the capacity");
}

void locks_do_not_leak(Case& test) {
  SmallCache cache(test);
  EnginePlayer& player = cache.player();
  std::vector<Tokens> stored;
  stored.reserve(8);
  for (std::uint8_t i = 0; i < 8; ++i) stored.push_back(cache.store(i));
  // A hundred requests at a time hold locks, ten times.
  for (int round = 0; round < 10; ++round) {
    std::vector<Key> keys;
    keys.reserve(100);
    for (std::size_t i = 0; i < 100; ++i) {
      keys.push_back(player.key(stored[i % stored.size()]));
      keys.back().worker_id = std::nullopt;
    }
    for (const RequestType type : {RequestType::kLookup, RequestType::kFreeLookupLocks}) {
      std::vector<Sent> sent;
      sent.reserve(keys.size());
      for (const Key& key : keys) sent.push_back(player.client().send_values(type, key, Int(1)));
      for (const Sent& one : sent) player.client().reply_to(one);
    }
  }
  cache.press(cache.more_than_capacity());
  std::size_t num_left = 0;
  for (const Tokens& tokens : stored) num_left += cache.found(tokens) ? 1U : 0U;
  test.expect_equal(Int(num_left), Int(0), "chunks left of those that were freed long ago");
}

void least_recently_used(Case& test) {
  SmallCache cache(test);
  EnginePlayer& player = cache.player();
  const Tokens kept = cache.store(0);
  const Tokens left = cache.store(1);
  // A quarter of the cache at a time, and `kept` is used in between.
  for (int i = 0; i < 6; ++i) {
    cache.press(cache.num_chunks_of_capacity() / 4);
    const Key key = player.key(kept);
    test.expect_equal(player.lookup(key), Int(1), "chunks found of what is used again and again");
    cache.expect_exact(key, 0, "what is used again and again");
    player.end_session(key.request_id);
  }
  test.expect(!cache.found(left), "what was not used since is gone", "it is there");
}

void end_session_touches(Case& test) {
  SmallCache cache(test);
  EnginePlayer& player = cache.player();
  // Looked up, freed, and ended only later: had END_SESSION not counted, more than the capacity
  // would have been stored since the FREE.
  const Tokens kept = cache.store(0);
  const Tokens left = cache.store(1);
  const std::size_t half = cache.num_chunks_of_capacity() * 11 / 20 + 1;
  for (int i = 0; i < 3; ++i) {
    const Key key = player.key(kept);
    test.expect_equal(player.lookup(key), Int(1), "chunks found of what sessions ended with");
    player.free_locks(key);
    cache.press(half);
    player.end_session(key.request_id);
    cache.press(half);
  }
  test.expect(cache.found(kept), "what sessions ended with is there", "it is gone");
  test.expect(!cache.found(left), "what was not used since is gone", "it is there");
}

void no_memory_stores_none(Case& test) {
  SmallCache cache(test);
  EnginePlayer& player = cache.player();
  // Locked chunks fill most of the cache, so that nothing can be evicted for what comes.
  std::vector<Key> locked;
  const std::size_t num_locked = cache.num_chunks_of_capacity() * 3 / 4;
  for (std::size_t i = 0; i < num_locked; ++i) {
    locked.push_back(player.key(cache.store(static_cast<std::uint8_t>(i))));
    test.expect_equal(player.lookup(locked.back()), Int(1), "chunks found by LOOKUP");
  }
  const std::size_t num_new = cache.num_chunks_of_capacity() / 2;
  const Tokens tokens = player.fresh_chunks(num_new);
  BlockIds blocks;
  for (std::size_t i = 0; i < num_new; ++i)
    blocks.push_back(static_cast<std::int64_t>(i % kPlaces));
  player.store(player.key(tokens), blocks);
  player.expect_lookup(tokens, Int(0), "of a STORE that did not fit as a whole");

  test.step("what was locked meanwhile");
  for (std::size_t i = 0; i < num_locked; ++i)
    cache.expect_exact(locked[i], static_cast<std::uint8_t>(i), "a chunk that was locked");
  test.step("when there is room again");
  player.clear();
  player.store_ok(player.key(tokens), blocks, "the same STORE when there is room");
  player.expect_lookup(tokens, Int(num_new), "of the same STORE when there is room");
}

}  // namespace

void add_eviction_cases(CaseList& cases) {
  cases.add({"Eviction.StoresThreeTimesTheCapacity",
             {"eviction.makes-room", "retrieve.exact"},
             "More than three times the capacity is stored, and each chunk can be had at once.",
             kNeeds,
             three_times_the_capacity});
  cases.add({"Eviction.NeverOfALockedChunk",
             {"eviction.locked"},
             "A locked chunk is there, and exact, after more than the capacity was stored.",
             kNeeds,
             locked_is_not_evicted});
  cases.add({"Eviction.NeverOfWhatWasNotFreed",
             {"eviction.locked", "locks.free-range"},
             "After FREE of the first chunks the others are still locked under pressure.",
             kNeeds,
             freed_keeps_the_rest_locked});
  cases.add({"Eviction.FreeStealsNoLock",
             {"eviction.locked", "locks.free-own"},
             "FREEs of one request do not let another's chunk be evicted.",
             kNeeds,
             free_steals_no_lock_under_pressure});
  cases.add({"Eviction.LocksDoNotLeak",
             {"locks.no-leak"},
             "After 1000 LOOKUPs and FREEs the chunks can be evicted.",
             kNeeds,
             locks_do_not_leak});
  cases.add({"Eviction.LeastRecentlyUsedFirst",
             {"eviction.lru"},
             "What is retrieved again and again stays, what is not goes.",
             kNeeds,
             least_recently_used});
  cases.add({"Eviction.EndSessionMarksAsUsed",
             {"session.end-touches"},
             "END_SESSION marks the chunks that its request looked up as used.",
             kNeeds,
             end_session_touches});
  cases.add({"Eviction.WithoutRoomNoneIsStored",
             {"store.no-memory"},
             "Where there is no room for all new chunks of a STORE, none of them is stored.",
             kNeeds,
             no_memory_stores_none});
}

}  // namespace kvc::conformance
