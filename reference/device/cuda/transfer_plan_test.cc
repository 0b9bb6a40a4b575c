// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: the kernel's index arithmetic does what for_each_run says, and touches nothing else.
// Method: random layouts on plain memory; the launches of a plan run on the kernel's twin, and the
// obvious nested loops on the same bytes. Blocks of a batch are distinct, as an engine's are: of
// two writes to one block a GPU may let either win.
#include "device/cuda/transfer_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>

#include "device/cuda/transfer_twin.h"
#include "device/random_space.h"

namespace kvc::cuda {
namespace {

using test::contents;
using test::PlainBuffer;
using test::random_space;

// Staging with a fence behind it, aligned as device memory is.
class Staging {
 public:
  Staging(std::size_t size, std::uint8_t byte)
      : size_(size),
        memory_(static_cast<std::uint8_t*>(
            ::operator new(size + kFence, std::align_val_t(kStagingAlignment)))) {
    std::memset(memory_, byte, size_ + kFence);
  }
  ~Staging() { ::operator delete(memory_, std::align_val_t(kStagingAlignment)); }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  std::uint8_t* bytes() const { return memory_; }
  Bytes all() const { return {memory_, memory_ + size_ + kFence}; }

 private:
  static constexpr std::size_t kFence = 64;
  const std::size_t size_;
  std::uint8_t* const memory_;
};

// As many chunks as there are distinct blocks for, three at most; each with its own skip.
std::vector<ChunkCopy> random_chunks(const Layout& layout, CopyDirection direction) {
  std::vector<std::int64_t> ids(layout.num_blocks);
  std::iota(ids.begin(), ids.end(), 0);
  for (std::size_t i = ids.size(); i > 1; --i)
    std::swap(ids[i - 1], ids[*rc::gen::inRange<std::size_t>(0, i)]);
  std::vector<ChunkCopy> chunks;
  const std::size_t needed = layout.blocks_per_chunk();
  for (std::size_t first = 0; first + needed <= ids.size() && chunks.size() < 3; first += needed) {
    ChunkCopy chunk;
    chunk.direction = direction;
    chunk.block_ids.assign(ids.begin() + static_cast<std::ptrdiff_t>(first),
                           ids.begin() + static_cast<std::ptrdiff_t>(first + needed));
    if (direction == CopyDirection::kChunkToBlocks && *rc::gen::arbitrary<bool>())
      chunk.num_blocks_skipped = *rc::gen::inRange<std::size_t>(0, needed + 2);
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

void run_twin(const TransferPlan& plan, const std::vector<ChunkCopy>& chunks, std::uint8_t* staging,
              CopyDirection direction, const std::uint32_t* spoiled = nullptr) {
  const auto num_threads = *rc::gen::inRange<std::uint32_t>(1, 70);
  plan.for_each_launch(
      {chunks, staging, plan.planes().data(), spoiled},
      [&](const TransferLaunch& launch) { run_transfer_twin(launch, direction, num_threads); });
}

TEST(TransferPlan, GathersWhatTheRunsSay) {
  EXPECT_TRUE(rc::check("staged chunks are the runs' bytes, all else unchanged", [] {
    const auto space = random_space();
    const TransferPlan plan(*space);
    const auto chunks = random_chunks(space->layout, CopyDirection::kBlocksToChunk);
    const std::vector<Bytes> before = contents(*space);
    const Staging staging(chunks.size() * plan.chunk_stride(), 0xee);
    Bytes expected = staging.all();
    for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk)
      for (std::size_t i = 0; i < chunks[chunk].block_ids.size(); ++i)
        for_each_run(space->layout, chunks[chunk].block_ids[i], i, [&](const kvc::Run& run) {
          std::memcpy(&expected[chunk * plan.chunk_stride() + run.object_offset],
                      &before[run.tensor][run.tensor_offset], run.size);
        });
    run_twin(plan, chunks, staging.bytes(), CopyDirection::kBlocksToChunk);
    RC_ASSERT(staging.all() == expected);
    RC_ASSERT(contents(*space) == before);
    RC_TAG(plan.vector_widths().front());
  }));
}

TEST(TransferPlan, ScattersWhatTheRunsSayAndSkips) {
  EXPECT_TRUE(rc::check("scattered chunks are the runs' bytes, all else unchanged", [] {
    const auto space = random_space();
    const TransferPlan plan(*space);
    const auto chunks = random_chunks(space->layout, CopyDirection::kChunkToBlocks);
    const Staging staging(chunks.size() * plan.chunk_stride(), 0);
    const Bytes objects = test::random_bytes(chunks.size() * plan.chunk_stride(),
                                             *rc::gen::arbitrary<std::uint32_t>());
    std::copy(objects.begin(), objects.end(), staging.bytes());
    const Bytes before = staging.all();
    std::vector<Bytes> expected = contents(*space);
    for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk)
      for (std::size_t i = chunks[chunk].num_blocks_skipped; i < chunks[chunk].block_ids.size();
           ++i)
        for_each_run(space->layout, chunks[chunk].block_ids[i], i, [&](const kvc::Run& run) {
          std::memcpy(&expected[run.tensor][run.tensor_offset],
                      &objects[chunk * plan.chunk_stride() + run.object_offset], run.size);
        });
    run_twin(plan, chunks, staging.bytes(), CopyDirection::kChunkToBlocks);
    RC_ASSERT(contents(*space) == expected);
    RC_ASSERT(staging.all() == before);
  }));
}

TEST(TransferPlan, TouchesNothingOnceSpoiled) {
  EXPECT_TRUE(rc::check("a spoiled unit's launches leave both sides alone", [] {
    const auto space = random_space();
    const TransferPlan plan(*space);
    const auto chunks = random_chunks(space->layout, CopyDirection::kChunkToBlocks);
    const Staging staging(chunks.size() * plan.chunk_stride(), 0x11);
    const std::vector<Bytes> before = contents(*space);
    const std::uint32_t spoiled = 1;
    run_twin(plan, chunks, staging.bytes(), CopyDirection::kChunkToBlocks, &spoiled);
    RC_ASSERT(contents(*space) == before);
  }));
}

struct Widths {
  const char* what;
  KvFormat format;
  std::vector<std::int64_t> shape;
  const char* dtype;
  std::size_t base_offset;
  std::uint32_t vector_bytes;
  std::uint32_t rows_of_block;
};

// What the kernel is fast by: the widest vectors, and rows as long as they come.
TEST(TransferPlan, TakesTheWidestRowsAndVectors) {
  const Widths all[] = {
      {"NHD: a block is a row",
       KvFormat::kNlXTwoNbBsNhHs,
       {2, 9, 16, 8, 128},
       "bfloat16",
       0,
       16,
       1},
      {"HND: a head of a slot is a row",
       KvFormat::kNlXNbTwoNhBsHs,
       {9, 2, 8, 16, 128},
       "bfloat16",
       0,
       16,
       128},
      {"one head in HND: a block again",
       KvFormat::kNlXNbTwoNhBsHs,
       {9, 2, 1, 16, 128},
       "bfloat16",
       0,
       16,
       1},
      {"MLA", KvFormat::kNlXNbBsHs, {9, 16, 576}, "bfloat16", 0, 16, 1},
      {"heads of 3 bytes", KvFormat::kNlXTwoNbNhBsHs, {2, 9, 2, 16, 3}, "uint8", 0, 1, 32},
      {"heads of 12 bytes", KvFormat::kNlXTwoNbNhBsHs, {2, 9, 2, 16, 3}, "float32", 0, 4, 32},
      {"an odd offset", KvFormat::kNlXTwoNbBsNhHs, {2, 9, 16, 8, 128}, "bfloat16", 2, 2, 1},
  };
  for (const Widths& widths : all) {
    SCOPED_TRACE(widths.what);
    TensorDesc desc = test::contiguous_desc(widths.dtype, widths.shape);
    desc.base_offset_bytes = widths.base_offset;
    LayoutHints hints;
    if (widths.format == KvFormat::kNlXTwoNbNhBsHs || widths.format == KvFormat::kNlXNbTwoNhBsHs)
      hints.kv_layout = KvLayout::kHND;
    BlockSpace space;
    space.layout = *discover_layout({desc}, EngineType::kVllm, hints, 32);
    ASSERT_EQ(space.layout.format, widths.format);
    space.buffers.push_back(
        std::make_shared<PlainBuffer>(Bytes(desc.available_bytes + widths.base_offset)));
    const TransferPlan plan(space);
    EXPECT_EQ(plan.vector_widths().front(), widths.vector_bytes);
    ChunkCopy chunk;
    chunk.block_ids = {0, 1};
    const std::vector<ChunkCopy> chunks = {chunk};
    plan.for_each_launch(
        {chunks, nullptr, plan.planes().data(), nullptr}, [&](const TransferLaunch& launch) {
          EXPECT_EQ(launch.shape.num_slots * launch.shape.num_heads, widths.rows_of_block);
        });
  }
}

// A blend buffer's tokens are blocks of one slot, and its strides may be any.
TEST(TransferPlan, GathersFromABlendBuffer) {
  constexpr std::size_t kChunkSize = 500, kTokens = 1300, kOffset = 171;
  TensorDesc desc = test::contiguous_desc("bfloat16", {2, 3, kTokens, 12});
  const Result<Layout> layout = blend_layout({desc}, kChunkSize);
  ASSERT_TRUE(layout.ok()) << layout.error().text();
  BlockSpace space;
  space.layout = *layout;
  space.buffers.push_back(
      std::make_shared<PlainBuffer>(test::random_bytes(desc.available_bytes, 3)));
  const TransferPlan plan(space);
  std::vector<ChunkCopy> chunks(2);
  for (std::size_t i = 0; i < 2 * kChunkSize; ++i)
    chunks[i / kChunkSize].block_ids.push_back(static_cast<std::int64_t>(kOffset + i));
  const Staging staging(chunks.size() * plan.chunk_stride(), 0xee);
  plan.for_each_launch({chunks, staging.bytes(), plan.planes().data(), nullptr},
                       [](const TransferLaunch& launch) {
                         run_transfer_twin(launch, CopyDirection::kBlocksToChunk, 33);
                       });
  // [2, L, T, D] to [2, L, chunk, D] by hand.
  constexpr std::size_t kTokenBytes = 24, kPlanes = 6;
  for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk)
    for (std::size_t plane = 0; plane < kPlanes; ++plane)
      ASSERT_EQ(std::memcmp(staging.bytes() + chunk * plan.chunk_stride() +
                                plane * kChunkSize * kTokenBytes,
                            space.buffers[0]->address() +
                                (plane * kTokens + kOffset + chunk * kChunkSize) * kTokenBytes,
                            kChunkSize * kTokenBytes),
                0);
}

// More blocks than one kernel argument holds, as a blend buffer's tokens or blocks of one slot are.
TEST(TransferPlan, SplitsWhatOneLaunchCannotHold) {
  constexpr std::size_t kChunkSize = 1000;
  const TensorDesc desc = test::contiguous_desc("bfloat16", {2, 2 * kChunkSize, 1, 1, 8});
  BlockSpace space;
  space.layout = *discover_layout({desc}, EngineType::kVllm, {}, kChunkSize);
  space.buffers.push_back(std::make_shared<PlainBuffer>(Bytes(desc.available_bytes)));
  const TransferPlan plan(space);
  std::vector<ChunkCopy> chunks(2);
  for (std::size_t i = 0; i < 2 * kChunkSize; ++i)
    chunks[i / kChunkSize].block_ids.push_back(static_cast<std::int64_t>(2 * kChunkSize - 1 - i));
  chunks[1].num_blocks_skipped = 7;
  std::vector<int> visits(2 * kChunkSize);
  plan.for_each_launch({chunks, nullptr, plan.planes().data(), nullptr},
                       [&](const TransferLaunch& launch) {
                         ASSERT_LE(launch.num_blocks, kBlocksPerLaunchMax);
                         for (std::uint32_t i = 0; i < launch.num_blocks; ++i) {
                           const std::size_t position = launch.first_block + i;
                           const std::size_t id = 2 * kChunkSize - 1 - position;
                           ASSERT_EQ(launch.block_ids[i], static_cast<std::int64_t>(id));
                           ++visits.at(position);
                         }
                       });
  for (std::size_t i = 0; i < visits.size(); ++i)
    ASSERT_EQ(visits[i], i >= kChunkSize && i < kChunkSize + 7 ? 0 : 1) << i;
}

}  // namespace
}  // namespace kvc::cuda
