// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/chunk_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "engine/worker_scopes.h"

namespace kvc {
namespace {

nlohmann::json golden() {
  std::ifstream file(KVC_SOURCE_DIR "/golden/0.4.5/hashes.json");
  return nlohmann::json::parse(file);
}

IntArray int_array(const nlohmann::json& numbers) {
  std::vector<Int> values;
  for (const nlohmann::json& number : numbers) {
    if (number.is_number_unsigned())
      values.push_back(number.get<std::uint64_t>());
    else
      values.push_back(number.get<std::int64_t>());
  }
  return IntArray::of(values);
}

TEST(ChunkHash, OfNothingIsTheRealServers) {
  EXPECT_EQ(to_hex(empty_prefix_hash()), golden()["header"]["none_hash"].get<std::string>());
}

TEST(ChunkHash, ChainsAreTheRealServers) {
  std::size_t num_hashes = 0;
  const nlohmann::json vectors = golden();
  for (const auto& chain : vectors["chains"]) {
    if (chain.contains("prefix")) continue;  // the next test's
    const IntArray tokens = int_array(chain["tokens"]);
    const std::size_t chunk_size = chain["chunk_size"];
    const ChunkRange range = whole_chunks(
        chain.value("start", std::int64_t{0}),
        chain.value("end", static_cast<std::int64_t>(tokens.size())), tokens.size(), chunk_size);
    const auto hashes = hash_chunks(tokens, chunk_size, range.end);
    ASSERT_EQ(hashes.ok(), !chain.contains("error")) << chain;
    if (!hashes.ok()) continue;
    ASSERT_EQ(range.end - range.first, chain["hashes"].size()) << chain;
    for (std::size_t i = range.first; i < range.end; ++i, ++num_hashes)
      EXPECT_EQ(to_hex((*hashes)[i]), chain["hashes"][i - range.first].get<std::string>());
  }
  EXPECT_GT(num_hashes, 100U);
}

TEST(ChunkHash, FollowsAnyPrefixAsTheRealServers) {
  const nlohmann::json vectors = golden();
  std::size_t num_chains = 0;
  for (const auto& chain : vectors["chains"]) {
    if (!chain.contains("prefix")) continue;
    const Bytes prefix = *from_hex(chain["prefix"].get<std::string>());
    ChunkHash hash{};
    if (prefix.size() != hash.size()) continue;  // where the real server's hash is another type
    std::copy(prefix.begin(), prefix.end(), hash.begin());
    const auto tokens = chain["tokens"].get<std::vector<std::uint32_t>>();
    const std::size_t chunk_size = chain["chunk_size"];
    for (std::size_t i = 0; i < chain["hashes"].size(); ++i) {
      hash = hash_chunk(hash, std::span(tokens).subspan(i * chunk_size, chunk_size));
      EXPECT_EQ(to_hex(hash), chain["hashes"][i].get<std::string>());
    }
    ++num_chains;
  }
  EXPECT_GE(num_chains, 3U);
}

TEST(ChunkHash, RefusesTokensThatDoNotFit) {
  for (const Int bad : {Int(-1), Int(std::int64_t{1} << 32), Int(~std::uint64_t{0})}) {
    const auto hashes = hash_chunks(IntArray{1, 2, 3, bad}, 2, 2);
    ASSERT_FALSE(hashes.ok());
    EXPECT_EQ(hashes.error().code, Errc::kInvalidArgument);
    EXPECT_EQ(hashes.error().path, "$.token_ids[3]");
  }
}

TEST(WholeChunks, TakeAnyRange) {
  const auto of = [](Int start, Int end) {
    const ChunkRange range = whole_chunks(start, end, 100, 8);
    return std::pair(range.first, range.end);
  };
  constexpr Int kHuge = ~std::uint64_t{0};
  EXPECT_EQ(of(-5, 8), std::pair(std::size_t{0}, std::size_t{1}));
  EXPECT_EQ(of(0, kHuge), std::pair(std::size_t{0}, std::size_t{12}));
  EXPECT_EQ(of(kHuge, kHuge), std::pair(std::size_t{0}, std::size_t{0}));
  EXPECT_EQ(of(0, -1), std::pair(std::size_t{0}, std::size_t{0}));
}

TEST(ChunkHash, DoesNotLookBehindTheLastChunk) {
  const auto hashes = hash_chunks(IntArray{1, 2, -1}, 2, 1);
  ASSERT_TRUE(hashes.ok());
  EXPECT_EQ(*hashes, *hash_chunks(IntArray{1, 2}, 2, 1));
}

TEST(KeyScope, TellsEveryPartApart) {
  const KeyScope base = key_scope("m", 1, 0, "");
  EXPECT_EQ(base, key_scope("m", 1, 0, ""));
  EXPECT_NE(base, key_scope("n", 1, 0, ""));
  EXPECT_NE(base, key_scope("m", 2, 0, ""));
  EXPECT_NE(base, key_scope("m", 1, 1, ""));
  EXPECT_NE(base, key_scope("m", 1, 0, "s"));
  EXPECT_NE(key_scope("m1", 1, 0, ""), key_scope("m", 11, 0, ""));
  EXPECT_NE(key_scope("m", 1, 23, ""), key_scope("m", 12, 3, ""));
  EXPECT_NE(key_scope("m", 1, 0, "a"), key_scope("m", 1, 0, ":a"));
}

TEST(WorkerScopes, AreAllWorkersOfTheWorldWithoutAWorkerId) {
  Key key;
  key.model_name = "m";
  key.world_size = 3;
  WorkerScopes all(key);
  ASSERT_EQ(all.size(), 3U);
  for (std::uint64_t worker = 0; worker < 3; ++worker)
    EXPECT_EQ(all.at(worker), key_scope("m", 3, Int(worker), ""));
  key.worker_id = Int(2);
  WorkerScopes one(key);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one.at(0), key_scope("m", 3, 2, ""));
  key.worker_id.reset();
  key.world_size = -1;
  EXPECT_EQ(WorkerScopes(key).size(), 0U);
}

}  // namespace
}  // namespace kvc
