// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// BlendIndex, BlendHolds, and the tokens they work on.
#include <gtest/gtest.h>

#include <set>

#include "engine/blend_holds.h"
#include "engine/blend_index.h"
#include "engine/engine_test_support.h"

namespace kvc {
namespace {

using test::FakeClock;
using test::kChunkSize;
using test::make_key;
using test::tokens_from;

const auto kAcceptAll = [](const BlendMatcher::Placement&) { return true; };

class BlendIndexTest : public ::testing::Test {
 protected:
  void add(const Key& key, bool anywhere = true, bool pre_computed = true) {
    const std::vector<std::uint32_t> tokens = *leading_tokens(key.token_ids, key.token_ids.size());
    const std::vector<ChunkHash> chunks = hash_chunks(tokens, kChunkSize);
    const KeyScope scope = key_scope(key.model_name, key.world_size, Int(0), key.cache_salt);
    for (const ChunkHash& chunk : chunks) objects_.insert(chunk);
    index_.add(tenant_of(key), {tokens, chunks, scope, anywhere, pre_computed});
  }
  std::size_t num_found(const Key& key) const {
    return index_.find(tenant_of(key), *token_segments(key.token_ids), kAcceptAll).size();
  }

  std::set<ChunkHash> objects_;  // those that exist
  BlendIndex index_{kChunkSize, 7,
                    [this](const ObjectKey& key) { return objects_.contains(key.hash); }};
};

TEST_F(BlendIndexTest, KeepsTenantsApart) {
  const Key stored = make_key(tokens_from(1, kChunkSize));
  add(stored);
  EXPECT_EQ(num_found(stored), 1u);
  for (auto change : std::vector<std::function<void(Key&)>>{
           [](Key& key) { key.cache_salt = "salt"; }, [](Key& key) { key.model_name = "other"; },
           [](Key& key) { key.world_size = 2; }}) {
    Key other = stored;
    change(other);
    EXPECT_EQ(num_found(other), 0u);
    EXPECT_EQ(num_found(stored), 1u) << "a lookup changes nothing";
  }
}

TEST_F(BlendIndexTest, TellsPreComputedFromFinal) {
  const Key key = make_key(tokens_from(1, 3 * kChunkSize));
  const std::vector<ChunkHash> chunks = hash_chunks(tokens_from(1, 3 * kChunkSize), kChunkSize);
  add(key, true, false);
  EXPECT_EQ(index_.leading_pre_computed(tenant_of(key), chunks), 0u);
  add(make_key(tokens_from(1, 2 * kChunkSize)), true, true);
  EXPECT_EQ(index_.leading_pre_computed(tenant_of(key), chunks), 2u);
  EXPECT_EQ(num_found(key), 3u);
}

TEST_F(BlendIndexTest, IsFoundAnywhereOnlyWhenOneWorkerSaysSo) {
  const Key key = make_key(tokens_from(1, kChunkSize));
  add(key, false);
  EXPECT_EQ(num_found(key), 0u);
  add(key, true);
  EXPECT_EQ(num_found(key), 1u);
}

TEST_F(BlendIndexTest, ForgetsWhatIsGoneBeforeItGrows) {
  for (std::uint32_t i = 0; i < 20000; ++i) {
    add(make_key(tokens_from(i * 100, kChunkSize)));
    if (objects_.size() > 10) objects_.clear();
  }
  EXPECT_LE(index_.size(), 1024u);
  add(make_key(tokens_from(1, kChunkSize)));
  EXPECT_EQ(num_found(make_key(tokens_from(1, kChunkSize))), 1u);
}

TEST_F(BlendIndexTest, KeepsWhatLives) {
  for (std::uint32_t i = 0; i < 3000; ++i) add(make_key(tokens_from(i * 100, kChunkSize)));
  EXPECT_EQ(index_.size(), 3000u);
  for (std::uint32_t i = 0; i < 3000; ++i)
    ASSERT_EQ(num_found(make_key(tokens_from(i * 100, kChunkSize))), 1u) << i;
}

TEST_F(BlendIndexTest, IsEmptyAfterClear) {
  add(make_key(tokens_from(1, kChunkSize)));
  index_.clear();
  EXPECT_EQ(index_.size(), 0u);
  EXPECT_EQ(num_found(make_key(tokens_from(1, kChunkSize))), 0u);
}

// A token that no store can have stored ends the matches on both of its sides, and no others.
TEST_F(BlendIndexTest, MatchesAroundTokensThatCannotBeStored) {
  add(make_key(tokens_from(1, kChunkSize)));
  std::vector<Int> query;
  for (const std::uint32_t token : tokens_from(1, kChunkSize)) query.emplace_back(token);
  query.emplace_back(std::uint64_t{1} << 40U);
  for (const std::uint32_t token : tokens_from(1, kChunkSize)) query.emplace_back(token);
  Key key = make_key({});
  key.token_ids = IntArray::of(query);
  const auto matches = index_.find(tenant_of(key), *token_segments(key.token_ids), kAcceptAll);
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_EQ(matches[0].cur_st, 0u);
  EXPECT_EQ(matches[1].cur_st, kChunkSize + 1);
}

TEST(TokenSegments, RefuseNegativeTokens) {
  const auto segments = token_segments(IntArray::of(std::vector<Int>{Int(1), Int(-1)}));
  ASSERT_FALSE(segments.ok());
  EXPECT_EQ(segments.error().text(), "$.token_ids[1]: token id -1 is negative");
}

class BlendHoldsTest : public ::testing::Test {
 protected:
  static ObjectKey key(std::uint8_t number) {
    ObjectKey key{};
    key.hash[0] = number;
    return key;
  }
  FakeClock clock_;
  BlendHolds holds_{clock_.clock(), std::chrono::seconds(100), 4};
};

TEST_F(BlendHoldsTest, AnswerWhatNoRetrieveHasUsed) {
  holds_.add(1, std::vector{key(1), key(1), key(2)});
  holds_.add(2, std::vector{key(1)});
  holds_.used(1, std::vector{key(1), key(2), key(3)});
  EXPECT_EQ(holds_.end(1), (BlendHolds::Counts{{key(1), 1}}));
  EXPECT_TRUE(holds_.end(1).empty());
  EXPECT_EQ(holds_.size(), 1u);
  holds_.used(2, std::vector{key(1)});
  EXPECT_EQ(holds_.size(), 0u);
  holds_.used(2, std::vector{key(1)});
  EXPECT_TRUE(holds_.end(2).empty());
}

TEST_F(BlendHoldsTest, AreForgottenWhenTheLocksHaveExpired) {
  holds_.add(1, std::vector{key(1)});
  clock_.advance(std::chrono::seconds(101));
  holds_.add(2, std::vector{key(1)});
  EXPECT_TRUE(holds_.end(1).empty());
  EXPECT_EQ(holds_.end(2).size(), 1u);
}

TEST_F(BlendHoldsTest, AreBounded) {
  for (RequestNumber request = 0; request < 100; ++request)
    holds_.add(request, std::vector{key(1), key(2)});
  EXPECT_LE(holds_.size(), 4u);
  EXPECT_EQ(holds_.end(99).size(), 2u) << "the oldest go first";
}

}  // namespace
}  // namespace kvc
