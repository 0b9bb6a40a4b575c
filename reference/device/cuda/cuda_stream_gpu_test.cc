// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: on a real GPU copies are exact to the byte in every layout, and waits, host functions and
// events come in their order. Method: the same copy by for_each_run on the host's own bytes.
#include <cstring>
#include <future>
#include <string>
#include <utility>

#include "device/cuda/gpu_test.h"
#include "kvc/device/layout.h"
#include "kvc/device/manual_event.h"
#include "kvc/device/pin_memory.h"

namespace kvc::cuda {
namespace {

using CudaStreamTest = GpuTest;

struct Shape {
  const char* name;
  EngineType engine;
  bool hnd;
  const char* dtype;
  std::vector<std::vector<std::int64_t>> tensors;
  std::int64_t padding = 0;
};

std::vector<Shape> shapes() {
  const auto vllm = EngineType::kVllm;
  return {
      {"NHD, two first", vllm, false, "bfloat16", {{2, 40, 16, 8, 128}, {2, 40, 16, 8, 128}}},
      {"HND, two first", vllm, true, "bfloat16", {{2, 40, 8, 16, 128}, {2, 40, 8, 16, 128}}},
      {"NHD, blocks first", vllm, false, "float16", {{40, 2, 16, 3, 5}, {40, 2, 16, 3, 5}}},
      {"HND, blocks first", vllm, true, "float8_e4m3fn", {{40, 2, 3, 16, 7}, {40, 2, 2, 16, 64}}},
      {"MLA", vllm, false, "bfloat16", {{40, 16, 576}, {40, 16, 576}}},
      {"padded MLA", vllm, false, "uint8", {{40, 16, 33}, {40, 16, 576}}, 11},
      {"pool", EngineType::kTrtllm, false, "float32", {{40, 3, 2, 4, 16, 32}}},
  };
}

std::shared_ptr<BlockSpace> make_space(Device& device, const Shape& shape, std::size_t chunk_size) {
  std::vector<TensorDesc> tensors;
  for (const auto& sizes : shape.tensors) {
    TensorDesc desc = test::contiguous_desc(shape.dtype, sizes);
    desc.stride[0] += shape.padding;
    tensors.push_back(std::move(desc));
  }
  LayoutHints hints;
  if (shape.hnd) hints.kv_layout = KvLayout::kHND;
  auto space = std::make_shared<BlockSpace>();
  space->layout = *discover_layout(tensors, shape.engine, hints, chunk_size);
  for (const TensorDesc& desc : space->layout.tensors)
    space->buffers.push_back(device.create_buffer(
        static_cast<std::size_t>(desc.shape[0] * desc.stride[0]) * desc.element_size));
  return space;
}

std::vector<ChunkCopy> make_chunks(const Layout& layout, CopyDirection direction,
                                   const GpuTest::Objects& objects, std::size_t first_block) {
  std::vector<ChunkCopy> chunks;
  for (std::size_t i = 0; i < objects.count(); ++i) {
    ChunkCopy chunk;
    chunk.direction = direction;
    chunk.object = objects[i];
    for (std::size_t block = 0; block < layout.blocks_per_chunk(); ++block)
      chunk.block_ids.push_back(static_cast<std::int64_t>(
          first_block + (objects.count() - i) * layout.blocks_per_chunk() - 1 - block));
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

TEST_F(CudaStreamTest, CopiesExactlyInEveryLayout) {
  constexpr std::size_t kChunkSize = 64;
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    const auto space = make_space(*device_, shape, kChunkSize);
    const Layout& layout = space->layout;
    std::vector<Bytes> images;
    for (const auto& buffer : space->buffers) {
      images.push_back(test::random_bytes(buffer->size_bytes(), images.size() + 1));
      write_buffer(*buffer, 0, images.back());
    }
    const auto stream = device_->create_stream({});
    const Objects objects(*device_, layout, 4);
    auto chunks = make_chunks(layout, CopyDirection::kBlocksToChunk, objects, 0);
    stream->begin_unit();
    stream->copy(space, chunks);
    stream->synchronize();
    for (std::size_t i = 0; i < chunks.size(); ++i)
      for (std::size_t block = 0; block < chunks[i].block_ids.size(); ++block)
        for_each_run(layout, chunks[i].block_ids[block], block, [&](const kvc::Run& run) {
          ASSERT_EQ(std::memcmp(&objects[i][run.object_offset],
                                &images[run.tensor][run.tensor_offset], run.size),
                    0);
        });

    chunks = make_chunks(layout, CopyDirection::kChunkToBlocks, objects, 20);
    chunks.front().num_blocks_skipped = 1;
    for (std::size_t i = 0; i < chunks.size(); ++i)
      for (std::size_t block = chunks[i].num_blocks_skipped; block < chunks[i].block_ids.size();
           ++block)
        for_each_run(layout, chunks[i].block_ids[block], block, [&](const kvc::Run& run) {
          std::memcpy(&images[run.tensor][run.tensor_offset], &objects[i][run.object_offset],
                      run.size);
        });
    stream->begin_unit();
    stream->copy(space, chunks);
    stream->synchronize();
    for (std::size_t i = 0; i < images.size(); ++i)
      EXPECT_EQ(download(*space->buffers[i]), images[i]) << "tensor " << i;
  }
}

TEST_F(CudaStreamTest, WaitsCopiesTellsAndCompletesInThisOrder) {
  const auto space = make_space(*device_, shapes().front(), 64);
  const auto stream = device_->create_stream({});
  const auto done = device_->create_event();
  const Objects objects(*device_, space->layout, 2);
  const auto chunks = make_chunks(space->layout, CopyDirection::kBlocksToChunk, objects, 0);
  std::promise<bool> told;
  std::future<bool> answer = told.get_future();
  ManualEvent engine(*device_);  // a kernel that still runs
  stream->begin_unit();
  stream->wait(engine.event());
  stream->copy(space, chunks);
  stream->host_function([&](bool completed) { told.set_value(completed); });
  stream->record(done);
  EXPECT_FALSE(done->synchronize_for(std::chrono::milliseconds(50)));
  EXPECT_EQ(answer.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  EXPECT_FALSE(stream->idle());
  engine.complete();
  done->synchronize();
  ASSERT_EQ(answer.wait_for(std::chrono::seconds(0)), std::future_status::ready)
      << "the event completes behind the host function";
  EXPECT_TRUE(answer.get());
}

TEST_F(CudaStreamTest, AnAbandonedUnitTouchesNoBlocks) {
  const auto space = make_space(*device_, shapes().front(), 64);
  const Bytes before = test::random_bytes(space->buffers[0]->size_bytes(), 1);
  write_buffer(*space->buffers[0], 0, before);
  const auto stream = device_->create_stream({});
  const Objects objects(*device_, space->layout, 2);
  const auto chunks = make_chunks(space->layout, CopyDirection::kChunkToBlocks, objects, 0);
  std::promise<bool> told;
  ManualEvent engine(*device_);  // a kernel that still runs
  stream->begin_unit();
  stream->wait(engine.event());
  stream->copy(space, chunks);
  stream->host_function([&](bool completed) { told.set_value(completed); });
  stream->abandon();
  engine.complete();
  EXPECT_FALSE(told.get_future().get());
  stream->synchronize();
  EXPECT_EQ(download(*space->buffers[0]), before);
}

TEST_F(CudaStreamTest, CopiesMemoryThatIsNotPinned) {
  const auto space = make_space(*device_, shapes().front(), 64);
  const Layout& layout = space->layout;
  write_buffer(*space->buffers[0], 0, test::random_bytes(space->buffers[0]->size_bytes(), 3));
  const Objects pinned(*device_, layout, 1);
  auto chunks = make_chunks(layout, CopyDirection::kBlocksToChunk, pinned, 0);
  Bytes plain(layout.chunk_bytes);
  const auto stream = device_->create_stream({});
  stream->begin_unit();
  stream->copy(space, chunks);
  chunks.front().object = plain.data();
  stream->copy(space, chunks);
  stream->synchronize();
  EXPECT_EQ(std::memcmp(plain.data(), pinned[0], plain.size()), 0);
}

}  // namespace
}  // namespace kvc::cuda
