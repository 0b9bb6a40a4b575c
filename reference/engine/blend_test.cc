// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The CB_… requests of the engine, on a host device, with a played blend buffer.
#include <gtest/gtest.h>

#include <limits>

#include "engine/engine.h"
#include "engine/engine_test_support.h"

namespace kvc {
namespace {

using test::FakeClock;
using test::kChunkSize;
using test::make_key;
using test::tokens_from;

constexpr std::size_t kLayers = 2, kTokens = 64, kHidden = 3;

// [2, kLayers, kTokens, kHidden] of bytes.
class PlayedBlendBuffer {
 public:
  KVCache kv_cache(std::int64_t num_layers = kLayers) const {
    ExportedTensor tensor;
    tensor.dtype = "uint8";
    tensor.shape = {2, num_layers, kTokens, kHidden};
    return {export_tensor(*buffer_, tensor, device_->own_uuid())};
  }
  // All bytes of a token, in the order of the planes.
  Bytes token(std::size_t index) const {
    Bytes out;
    for (std::size_t plane = 0; plane < 2 * kLayers; ++plane) {
      const std::uint8_t* at = buffer_->address() + (plane * kTokens + index) * kHidden;
      out.insert(out.end(), at, at + kHidden);
    }
    return out;
  }
  Bytes tokens(std::size_t first, std::size_t count = kChunkSize) const {
    Bytes out;
    for (std::size_t i = 0; i < count; ++i) {
      const Bytes one = token(first + i);
      out.insert(out.end(), one.begin(), one.end());
    }
    return out;
  }
  void fill(std::uint8_t seed) {
    for (std::size_t i = 0; i < buffer_->size_bytes(); ++i)
      buffer_->address()[i] = static_cast<std::uint8_t>(seed + i * 7 + i / 251);
  }
  void zero() { std::fill_n(buffer_->address(), buffer_->size_bytes(), std::uint8_t{0}); }
  Bytes ready_event() {
    events_.push_back(device_->create_event());
    return events_.back()->ipc_handle();
  }
  void wait(const TransferResult& result) {
    auto event = device_->open_event(result.event_handle);
    ASSERT_TRUE(event.ok()) << event.error().text();
    (*event)->synchronize();
  }

 private:
  std::unique_ptr<Device> device_ = create_host_device(test::shm_prefix("b"));
  std::shared_ptr<Buffer> buffer_ = device_->create_buffer(2 * kLayers * kTokens * kHidden);
  std::vector<std::shared_ptr<Event>> events_;
};

class BlendTest : public ::testing::Test {
 protected:
  BlendTest() { register_buffer(Int(1)); }
  void register_buffer(Int instance, const std::string& model = "model", Int world_size = 1) {
    const auto done = engine_.cb_register_kv_cache(instance, buffer_.kv_cache(), model, world_size);
    ASSERT_TRUE(done.ok()) << done.error().text();
  }
  bool store(const Key& key, Int offset = 0, bool final = false, Int instance = 1) {
    const auto stored =
        final ? engine_.cb_store_final(key, offset, instance, buffer_.ready_event())
              : engine_.cb_store_pre_computed(key, offset, instance, buffer_.ready_event());
    if (!stored) return false;
    buffer_.wait(*stored);
    return stored->ok;
  }
  CBMatchResults lookup(const Key& key) { return *engine_.cb_lookup_pre_computed_v2(key); }
  bool retrieve(const Key& key, const CBMatchResults& matches, Int offset = 0, Int instance = 1) {
    const auto retrieved =
        engine_.cb_retrieve_pre_computed_v2(key, matches, offset, instance, buffer_.ready_event());
    if (!retrieved) return false;
    buffer_.wait(*retrieved);
    return retrieved->ok;
  }
  std::uint64_t locks(const ChunkHash& chunk) {
    return engine_.objects().num_read_locks({chunk, key_scope("model", 1, Int(0), "")});
  }

  FakeClock clock_;
  std::unique_ptr<Device> device_ = create_host_device(test::shm_prefix("s"));
  Engine engine_{options(), *device_};
  PlayedBlendBuffer buffer_;

 private:
  EngineOptions options() {
    EngineOptions out;
    out.chunk_size = kChunkSize;
    out.l1_size_bytes = 1 << 16;
    out.clock = clock_.clock();
    return out;
  }
};

TEST_F(BlendTest, FindsAndPutsBackAtOddPositions) {
  buffer_.fill(1);
  const std::vector<std::uint32_t> tokens = tokens_from(100, 2 * kChunkSize);
  ASSERT_TRUE(store(make_key(tokens), 5));
  const Bytes second = buffer_.tokens(5 + kChunkSize);
  std::vector<std::uint32_t> query = tokens_from(1, 3);
  query.insert(query.end(), tokens.begin() + kChunkSize, tokens.end());
  const Key key = make_key(query, "q");
  const CBMatchResults found = lookup(key);
  ASSERT_EQ(found.size(), 1u);
  const ChunkHash hash = hash_chunks(tokens, kChunkSize)[1];
  EXPECT_EQ(found[0], (CBMatchResult{Int(kChunkSize), Int(2 * kChunkSize), 3, Int(3 + kChunkSize),
                                     Bytes(hash.begin(), hash.end())}));
  EXPECT_EQ(locks(hash), 1u);
  buffer_.zero();
  ASSERT_TRUE(retrieve(key, found, 20));
  EXPECT_EQ(buffer_.tokens(23), second);
  EXPECT_EQ(buffer_.tokens(0, 23), Bytes(23 * 2 * kLayers * kHidden)) << "nothing else";
  EXPECT_EQ(buffer_.tokens(23 + kChunkSize, kTokens - 23 - kChunkSize),
            Bytes((kTokens - 23 - kChunkSize) * 2 * kLayers * kHidden));
  EXPECT_EQ(locks(hash), 0u);
  EXPECT_FALSE(retrieve(key, found, 20)) << "a lock serves once";
}

TEST_F(BlendTest, LocksAreGivenBackAtTheEndOfTheSession) {
  const std::vector<std::uint32_t> tokens = tokens_from(1, kChunkSize);
  const ChunkHash hash = hash_chunks(tokens, kChunkSize)[0];
  ASSERT_TRUE(store(make_key(tokens)));
  lookup(make_key(tokens, "a"));
  lookup(make_key(tokens, "a"));
  lookup(make_key(tokens, "b"));
  ASSERT_EQ(engine_.cb_lookup_pre_computed(make_key(tokens, "a"))->size(), 1u);
  EXPECT_EQ(locks(hash), 4u);
  EXPECT_TRUE(engine_.end_session("a").ok());
  EXPECT_EQ(locks(hash), 1u);
  clock_.advance(std::chrono::seconds(301));
  EXPECT_EQ(locks(hash), 0u);
}

TEST_F(BlendTest, EndOfTheSessionGivesBackNoLockThatARetrieveUsed) {
  const std::vector<std::uint32_t> tokens = tokens_from(1, kChunkSize);
  const ChunkHash hash = hash_chunks(tokens, kChunkSize)[0];
  ASSERT_TRUE(store(make_key(tokens)));
  const Key key = make_key(tokens, "a");
  const CBMatchResults found = lookup(key);
  lookup(make_key(tokens, "b"));
  ASSERT_TRUE(retrieve(key, found));
  EXPECT_TRUE(engine_.end_session("a").ok());
  EXPECT_EQ(locks(hash), 1u);
}

TEST_F(BlendTest, RepeatedChunksAreFoundAndRetrievedEachTime) {
  buffer_.fill(3);
  ASSERT_TRUE(store(make_key(tokens_from(1, kChunkSize))));
  const Bytes bytes = buffer_.tokens(0);
  std::vector<std::uint32_t> query = tokens_from(1, kChunkSize);
  query.push_back(7);
  const std::vector<std::uint32_t> again = tokens_from(1, kChunkSize);
  query.insert(query.end(), again.begin(), again.end());
  const CBMatchResults found = lookup(make_key(query, "q"));
  ASSERT_EQ(found.size(), 2u);
  buffer_.zero();
  ASSERT_TRUE(retrieve(make_key(query, "q"), found));
  EXPECT_EQ(buffer_.tokens(0), bytes);
  EXPECT_EQ(buffer_.tokens(kChunkSize + 1), bytes);
}

TEST_F(BlendTest, RefusesWhatLiesOutsideOfTheBuffer) {
  const Key key = make_key(tokens_from(1, 2 * kChunkSize));
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  for (const Int offset : {Int(-1), Int(kTokens - 2 * kChunkSize + 1), Int(kTokens), Int(kMax),
                           Int(std::numeric_limits<std::uint64_t>::max())})
    EXPECT_FALSE(store(key, offset)) << offset.to_string();
  EXPECT_EQ(engine_.objects().num_objects(), 0u);
  ASSERT_TRUE(store(key, Int(kTokens - 2 * kChunkSize)));
  buffer_.fill(9);
  const Bytes before = buffer_.tokens(0, kTokens);
  CBMatchResults found = lookup(make_key(tokens_from(1, 2 * kChunkSize), "q"));
  ASSERT_EQ(found.size(), 2u);
  for (const Int offset : {Int(-1), Int(kTokens - 2 * kChunkSize + 1), Int(kMax)})
    EXPECT_FALSE(retrieve(make_key({}, "q"), found, offset)) << offset.to_string();
  EXPECT_EQ(buffer_.tokens(0, kTokens), before);
  EXPECT_TRUE(retrieve(make_key({}, "q"), found, Int(kTokens - 2 * kChunkSize)))
      << "the locks were kept";
}

TEST_F(BlendTest, SecondRegistrationReplacesTheFirst) {
  PlayedBlendBuffer other;
  ASSERT_TRUE(engine_.cb_register_kv_cache(Int(1), other.kv_cache(), "model", 1).ok());
  other.fill(5);
  const Bytes bytes = other.tokens(0);
  const Key key = make_key(tokens_from(1, kChunkSize), "q");
  ASSERT_TRUE(store(key));
  other.zero();
  ASSERT_TRUE(retrieve(key, lookup(key)));
  EXPECT_EQ(other.tokens(0), bytes);
}

TEST_F(BlendTest, ReplacingMayChangeTheShapeUnlessOthersShareIt) {
  EXPECT_TRUE(engine_.cb_register_kv_cache(Int(1), buffer_.kv_cache(1), "model", 1).ok());
  register_buffer(Int(2), "other");
  register_buffer(Int(3), "other");
  EXPECT_FALSE(engine_.cb_register_kv_cache(Int(2), buffer_.kv_cache(1), "other", 1).ok());
  EXPECT_TRUE(store(make_key(tokens_from(1, kChunkSize), "r", "other"), 0, false, Int(2)))
      << "what was registered stays";
}

TEST_F(BlendTest, UnregisteredInstanceGetsAnError) {
  EXPECT_TRUE(engine_.cb_unregister_kv_cache(Int(1)).ok());
  EXPECT_FALSE(
      engine_
          .cb_store_pre_computed(make_key(tokens_from(1, kChunkSize)), 0, 1, buffer_.ready_event())
          .ok());
  EXPECT_TRUE(lookup(make_key(tokens_from(1, kChunkSize))).empty());
}

TEST_F(BlendTest, ClearAndEvictionLeaveNoMatch) {
  const Key first = make_key(tokens_from(1, kChunkSize), "q");
  ASSERT_TRUE(store(first));
  EXPECT_TRUE(engine_.clear().ok());
  EXPECT_TRUE(lookup(first).empty());
  ASSERT_TRUE(store(first));
  EXPECT_EQ(lookup(first).size(), 1u);
  EXPECT_TRUE(engine_.end_session("q").ok());
  for (std::uint32_t i = 1; i < 2000; ++i)
    ASSERT_TRUE(store(make_key(tokens_from(i * 1000, kChunkSize))));
  EXPECT_TRUE(lookup(first).empty()) << "evicted";
  EXPECT_LE(engine_.blend_index().size(), 1024u + 2 * engine_.objects().num_objects());
}

TEST_F(BlendTest, V1FindsTheLeadingChunksOfTheQuery) {
  buffer_.fill(8);
  const Bytes stored = buffer_.tokens(0, 2 * kChunkSize);
  ASSERT_TRUE(store(make_key(tokens_from(1, 2 * kChunkSize))));
  buffer_.zero();
  const Key query = make_key(tokens_from(1, 3 * kChunkSize + 1), "q");
  const Ranges ranges = *engine_.cb_lookup_pre_computed(query);
  ASSERT_EQ(ranges, (Ranges{{0, Int(2 * kChunkSize)}}));
  const auto retrieved =
      engine_.cb_retrieve_pre_computed(query, ranges, 3, 1, buffer_.ready_event());
  ASSERT_TRUE(retrieved.ok() && retrieved->ok);
  buffer_.wait(*retrieved);
  EXPECT_EQ(buffer_.tokens(3, 2 * kChunkSize), stored);
}

TEST_F(BlendTest, V1FindsNoFinalOnes) {
  ASSERT_TRUE(store(make_key(tokens_from(1, kChunkSize)), 0, true));
  EXPECT_TRUE(engine_.cb_lookup_pre_computed(make_key(tokens_from(1, kChunkSize)))->empty());
  EXPECT_EQ(lookup(make_key(tokens_from(1, kChunkSize))).size(), 1u);
}

TEST_F(BlendTest, V1RefusesRangesThatAreNone) {
  const Key key = make_key(tokens_from(1, kChunkSize), "q");
  ASSERT_TRUE(store(key));
  ASSERT_EQ(engine_.cb_lookup_pre_computed(key)->size(), 1u);
  for (const Range& range : {Range{-1, 8}, Range{0, 9}, Range{8, 0}, Range{Int(1ULL << 63), 8}}) {
    const auto answer = engine_.cb_retrieve_pre_computed(key, {range}, 0, 1, buffer_.ready_event());
    ASSERT_TRUE(answer.ok());
    EXPECT_FALSE(answer->ok);
  }
}

TEST_F(BlendTest, OnlyWorkerZeroMakesChunksFindableAnywhere) {
  register_buffer(Int(2), "pair", 2);
  Key key = make_key(tokens_from(1, kChunkSize), "r", "pair");
  key.world_size = 2;
  key.worker_id = Int(1);
  ASSERT_TRUE(store(key, 0, false, Int(2)));
  Key query = key;
  query.worker_id = std::nullopt;
  EXPECT_TRUE(lookup(query).empty());
  key.worker_id = Int(0);
  ASSERT_TRUE(store(key, 0, false, Int(2)));
  EXPECT_EQ(lookup(query).size(), 1u);
  key.worker_id = std::nullopt;
  EXPECT_FALSE(store(key, 0, false, Int(2))) << "whose data?";
}

}  // namespace
}  // namespace kvc
