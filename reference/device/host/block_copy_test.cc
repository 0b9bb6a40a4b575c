// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: the fast copy does what for_each_run says, and touches nothing else. Method: random shapes,
// formats, paddings and block ids; both copies work on the same random bytes.
#include "device/host/block_copy.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>

#include "device/random_space.h"

namespace kvc {
namespace {

using test::contents;
using test::PlainBuffer;
using test::random_space;

// Often ascending, sometimes twice the same: of two writes to one block the later one stays.
std::vector<std::int64_t> random_block_ids(const Layout& layout) {
  const auto num_blocks = static_cast<std::int64_t>(layout.num_blocks);
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < layout.blocks_per_chunk(); ++i) {
    const bool next = !ids.empty() && *rc::gen::arbitrary<bool>();
    ids.push_back(next ? (ids.back() + 1) % num_blocks
                       : *rc::gen::inRange<std::int64_t>(0, num_blocks));
  }
  return ids;
}

TEST(BlockCopy, GathersWhatTheRunsSay) {
  EXPECT_TRUE(rc::check("a gathered chunk is the runs' bytes, the blocks unchanged", [] {
    const auto space = random_space();
    const Layout& layout = space->layout;
    const std::vector<std::int64_t> ids = random_block_ids(layout);
    const std::vector<Bytes> before = contents(*space);
    Bytes expected(layout.chunk_bytes);
    for (std::size_t i = 0; i < ids.size(); ++i)
      for_each_run(layout, ids[i], i, [&](const kvc::Run& run) {
        std::memcpy(expected.data() + run.object_offset,
                    before[run.tensor].data() + run.tensor_offset, run.size);
      });
    Bytes object(layout.chunk_bytes + 8, 0xee);  // with a fence behind it
    BlockCopy(*space).run({CopyDirection::kBlocksToChunk, object.data(), ids, 0});
    RC_ASSERT(Bytes(object.end() - 8, object.end()) == Bytes(8, 0xee));
    object.resize(layout.chunk_bytes);
    RC_ASSERT(object == expected);
    RC_ASSERT(contents(*space) == before);
  }));
}

TEST(BlockCopy, ScattersWhatTheRunsSayAndSkips) {
  EXPECT_TRUE(rc::check("a scattered chunk is the runs' bytes, all else unchanged", [] {
    const auto space = random_space();
    const Layout& layout = space->layout;
    const std::vector<std::int64_t> ids = random_block_ids(layout);
    const auto skipped = *rc::gen::inRange<std::size_t>(0, ids.size() + 2);
    Bytes object = test::random_bytes(layout.chunk_bytes, *rc::gen::arbitrary<std::uint32_t>());
    std::vector<Bytes> expected = contents(*space);
    for (std::size_t i = skipped; i < ids.size(); ++i)
      for_each_run(layout, ids[i], i, [&](const kvc::Run& run) {
        std::memcpy(expected[run.tensor].data() + run.tensor_offset,
                    object.data() + run.object_offset, run.size);
      });
    BlockCopy(*space).run({CopyDirection::kChunkToBlocks, object.data(), ids, skipped});
    RC_ASSERT(contents(*space) == expected);
  }));
}

// Block ids are the engine's to check; a copy past a buffer would be our own mistake.
TEST(BlockCopyDeathTest, RefusesForeignBlocks) {
  auto space = std::make_shared<BlockSpace>();
  const TensorDesc desc = test::contiguous_desc("uint8", {4, 8, 3});
  space->layout = *discover_layout({desc}, EngineType::kVllm, {}, 16);
  space->buffers.push_back(std::make_shared<PlainBuffer>(Bytes(desc.available_bytes)));
  Bytes object(space->layout.chunk_bytes);
  for (const std::vector<std::int64_t>& ids :
       {std::vector<std::int64_t>{0, 4}, {-1, 0}, {0}, {0, 1, 2}})
    EXPECT_DEATH(BlockCopy(*space).run({CopyDirection::kBlocksToChunk, object.data(), ids, 0}), "");
}

}  // namespace
}  // namespace kvc
