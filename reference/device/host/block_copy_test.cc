// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: the fast copy does what for_each_run says, and touches nothing else. Method: random shapes,
// formats, paddings and block ids; both copies work on the same random bytes.
#include "device/host/block_copy.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <numeric>

#include "device/test_support.h"

namespace kvc {
namespace {

// Memory that is nobody's shared memory.
class PlainBuffer final : public Buffer {
 public:
  explicit PlainBuffer(Bytes bytes) : bytes_(std::move(bytes)) {}
  std::size_t size_bytes() const override { return bytes_.size(); }
  std::uint8_t* address() const override { return bytes_.data(); }
  Bytes ipc_handle() const override { return {}; }
  const Bytes& bytes() const { return bytes_; }

 private:
  mutable Bytes bytes_;
};

struct Engine {
  EngineType type = EngineType::kVllm;
  LayoutHints hints;
  std::vector<TensorDesc> tensors;
};

Engine random_engine() {
  Engine engine;
  const auto format = *rc::gen::inRange(0, 6);
  const auto num_tensors = format == 5 ? 1 : *rc::gen::inRange<std::size_t>(1, 4);
  const std::int64_t slots = *rc::gen::element<std::int64_t>(1, 2, 4, 8);
  const std::int64_t blocks = *rc::gen::inRange<std::int64_t>(1, 9);
  const bool compressed = format == 4 && *rc::gen::arbitrary<bool>();
  if (format == 1 || format == 3) engine.hints.kv_layout = KvLayout::kHND;
  if (compressed) engine.hints.inference_engine_logical_block_size = Int(8);
  for (std::size_t i = 0; i < num_tensors; ++i) {
    const std::int64_t heads = *rc::gen::inRange<std::int64_t>(1, 4);
    // Some sizes have a copy of their own: 64, 128 and 256 bytes.
    const std::int64_t elements = *rc::gen::element<std::int64_t>(1, 3, 8, 32, 64, 128);
    const std::int64_t own_slots = compressed ? *rc::gen::element<std::int64_t>(1, 2, 4, 8) : slots;
    const char* const dtype = *rc::gen::element("uint8", "bfloat16", "float32");
    std::vector<std::int64_t> shape;
    switch (format) {
      case 0:
        shape = {2, blocks, slots, heads, elements};
        break;
      case 1:
        shape = {2, blocks, heads, slots, elements};
        break;
      case 2:
        shape = {blocks, 2, slots, heads, elements};
        break;
      case 3:
        shape = {blocks, 2, heads, slots, elements};
        break;
      case 4:
        shape = {blocks, own_slots, elements};
        break;
      default:
        engine.type = EngineType::kTrtllm;
        shape = {blocks, heads + 1, 2, heads, slots, elements};
    }
    TensorDesc desc = test::contiguous_desc(dtype, shape);
    if (format == 4) desc.stride[0] += *rc::gen::inRange<std::int64_t>(0, 40);
    desc.base_offset_bytes = desc.element_size * *rc::gen::inRange<std::size_t>(0, 5);
    engine.tensors.push_back(std::move(desc));
  }
  return engine;
}

std::shared_ptr<BlockSpace> random_space() {
  const Engine engine = random_engine();
  Result<Layout> layout = discover_layout(engine.tensors, engine.type, engine.hints, 16);
  RC_ASSERT(layout.ok());
  auto space = std::make_shared<BlockSpace>();
  space->layout = std::move(layout).value();
  for (const TensorDesc& desc : space->layout.tensors) {
    std::size_t end = desc.base_offset_bytes + desc.element_size;
    for (std::size_t axis = 0; axis < desc.shape.size(); ++axis)
      end +=
          static_cast<std::size_t>((desc.shape[axis] - 1) * desc.stride[axis]) * desc.element_size;
    space->buffers.push_back(std::make_shared<PlainBuffer>(
        test::random_bytes(end + 3, *rc::gen::arbitrary<std::uint32_t>())));
  }
  return space;
}

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

std::vector<Bytes> contents(const BlockSpace& space) {
  std::vector<Bytes> all;
  for (const auto& buffer : space.buffers)
    all.emplace_back(buffer->address(), buffer->address() + buffer->size_bytes());
  return all;
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
