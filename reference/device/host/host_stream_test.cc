// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/host/host_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "device/host/host_handle.h"
#include "device/test_support.h"
#include "kvc/device/host_device.h"

namespace kvc {
namespace {

constexpr std::size_t kChunk = 8;

class HostStreamTest : public ::testing::Test {
 protected:
  std::shared_ptr<Event> opened(const ManualHostEvent& event) {
    Result<std::shared_ptr<Event>> result = device_->open_event(event.ipc_handle());
    EXPECT_TRUE(result.ok());
    return std::move(result).value();
  }

  // One MLA layer of 4 blocks of 4 tokens.
  std::shared_ptr<const BlockSpace> block_space() {
    auto space = std::make_shared<BlockSpace>();
    Result<Layout> layout = discover_layout({test::contiguous_desc("uint8", {4, 4, 1024})},
                                            EngineType::kVllm, {}, kChunk);
    EXPECT_TRUE(layout.ok());
    space->layout = std::move(layout).value();
    space->buffers.push_back(buffer_);
    return space;
  }

  ChunkCopy gather(Bytes& object) {
    object.resize(kChunk * 1024);
    return {CopyDirection::kBlocksToChunk, object.data(), {2, 0}, 0};
  }

  std::unique_ptr<Device> device_ = create_host_device(test::shm_prefix());
  std::shared_ptr<Buffer> buffer_ = device_->create_buffer(4 * 4 * 1024);
};

TEST_F(HostStreamTest, RunsWorkInOrderOffTheCallersThread) {
  const auto stream = device_->create_stream(StreamPriority::kNormal);
  std::vector<int> seen;
  std::thread::id thread;
  for (int i = 0; i < 1000; ++i)
    stream->host_function([&, i] {
      seen.push_back(i);
      thread = std::this_thread::get_id();
    });
  stream->synchronize();
  EXPECT_TRUE(stream->idle());
  ASSERT_EQ(seen.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST_F(HostStreamTest, CopiesOnlyAfterTheEvent) {
  const auto stream = device_->create_stream(StreamPriority::kNormal);
  const auto space = block_space();
  ManualHostEvent written(*device_);
  const auto done = device_->create_event();
  Bytes object;
  stream->wait(opened(written));
  stream->copy(space, {gather(object)});
  stream->record(done);
  EXPECT_FALSE(stream->idle());
  const Bytes content = test::random_bytes(buffer_->size_bytes(), 1);
  std::copy(content.begin(), content.end(), buffer_->address());
  written.complete();
  done->synchronize();
  stream->synchronize();
  EXPECT_TRUE(std::equal(object.begin(), object.begin() + 4096, content.begin() + 2 * 4096));
  EXPECT_TRUE(std::equal(object.begin() + 4096, object.end(), content.begin()));
}

// What is waited for is what was recorded when the wait was asked for, not later.
TEST_F(HostStreamTest, WaitsForTheRecordThatWasAskedFor) {
  const auto first = device_->create_stream(StreamPriority::kNormal);
  const auto second = device_->create_stream(StreamPriority::kNormal);
  const auto event = device_->create_event();
  ManualHostEvent never(*device_);
  second->wait(event);  // not recorded: complete
  first->wait(opened(never));
  first->record(event);
  second->synchronize();
  EXPECT_TRUE(second->idle());
  EXPECT_FALSE(event->complete());
}

struct UnitOutcome {
  Bytes object;
  std::atomic<bool> told{false}, completed{false}, ran_unless_failed{false};
  std::shared_ptr<Event> event;
};

void queue_unit(Stream& stream, UnitOutcome& outcome, std::shared_ptr<Event> event,
                std::shared_ptr<const BlockSpace> space, ChunkCopy chunk) {
  stream.begin_unit();
  if (event) stream.wait(std::move(event));
  stream.copy(std::move(space), {std::move(chunk)});
  stream.host_function([&outcome](bool completed) {
    outcome.told = true;
    outcome.completed = completed;
  });
  stream.host_function([&outcome] { outcome.ran_unless_failed = true; });
  stream.record(outcome.event);
}

void expect_failed(const UnitOutcome& outcome) {
  EXPECT_TRUE(outcome.told);
  EXPECT_FALSE(outcome.completed);
  EXPECT_FALSE(outcome.ran_unless_failed);
  EXPECT_FALSE(outcome.event->complete()) << "nobody may think that the data is there";
}

void expect_whole(const UnitOutcome& outcome) {
  EXPECT_TRUE(outcome.told);
  EXPECT_TRUE(outcome.completed);
  EXPECT_TRUE(outcome.ran_unless_failed);
  EXPECT_TRUE(outcome.event->complete());
}

TEST_F(HostStreamTest, SpoilsTheUnitOfAFailedWaitAndNoOther) {
  StreamOptions options;
  options.wait_limit = std::chrono::milliseconds(2);
  const auto stream = device_->create_stream(options);
  const auto space = block_space();
  std::fill_n(buffer_->address(), buffer_->size_bytes(), std::uint8_t{7});
  ManualHostEvent never(*device_);
  UnitOutcome before, failed, after;
  for (UnitOutcome* outcome : {&before, &failed, &after}) outcome->event = device_->create_event();
  queue_unit(*stream, before, nullptr, space, gather(before.object));
  queue_unit(*stream, failed, opened(never), space, gather(failed.object));
  queue_unit(*stream, after, nullptr, space, gather(after.object));
  stream->synchronize();
  expect_whole(before);
  expect_failed(failed);
  expect_whole(after);
  EXPECT_EQ(before.object, Bytes(before.object.size(), 7));
  EXPECT_EQ(failed.object, Bytes(failed.object.size(), 0)) << "not copied";
  EXPECT_EQ(after.object, Bytes(after.object.size(), 7));
}

TEST_F(HostStreamTest, GivesUpPendingWaitsWhenAbandoned) {
  const auto stream = device_->create_stream(StreamPriority::kNormal);
  ManualHostEvent never(*device_);
  UnitOutcome pending, later, ready;
  for (UnitOutcome* outcome : {&pending, &later, &ready}) outcome->event = device_->create_event();
  queue_unit(*stream, pending, opened(never), block_space(), gather(pending.object));
  stream->abandon();
  queue_unit(*stream, later, opened(never), block_space(), gather(later.object));
  queue_unit(*stream, ready, device_->create_event(), block_space(), gather(ready.object));
  stream->synchronize();
  expect_failed(pending);
  expect_failed(later);
  expect_whole(ready);
}

TEST_F(HostStreamTest, CanBeDestroyedWhileItWaits) {
  ManualHostEvent never(*device_);
  UnitOutcome outcome;
  outcome.event = device_->create_event();
  const auto space = block_space();
  std::weak_ptr<const BlockSpace> watch;
  {
    const auto stream = device_->create_stream(StreamPriority::kNormal);
    const auto own = block_space();
    watch = own;
    queue_unit(*stream, outcome, opened(never), own, gather(outcome.object));
  }
  expect_failed(outcome);
  EXPECT_TRUE(watch.expired()) << "what the work kept alive has gone with it";
}

TEST_F(HostStreamTest, FinishesOtherWorkBeforeItIsDestroyed) {
  std::atomic<int> runs{0};
  {
    const auto stream = device_->create_stream(StreamPriority::kNormal);
    for (int i = 0; i < 100; ++i) stream->host_function([&] { ++runs; });
  }
  EXPECT_EQ(runs, 100);
}

TEST_F(HostStreamTest, KeepsWhatItUsesAlive) {
  const auto stream = device_->create_stream(StreamPriority::kNormal);
  ManualHostEvent gate(*device_);
  Bytes object;
  std::fill_n(buffer_->address(), buffer_->size_bytes(), std::uint8_t{3});
  stream->wait(opened(gate));
  stream->copy(block_space(), {gather(object)});
  buffer_.reset();
  gate.complete();
  stream->synchronize();
  EXPECT_EQ(object, Bytes(object.size(), 3));
}

void shrink(const Bytes& handle, std::string_view magic) {
  const Result<std::string> name = read_host_handle(handle, magic);
  ASSERT_TRUE(name.ok());
  const int descriptor = ::shm_open(name->c_str(), O_RDWR, 0);
  ASSERT_EQ(::ftruncate(descriptor, 0), 0);
  ::close(descriptor);
}

TEST_F(HostStreamTest, FailsTheUnitWhoseMemoryWasTakenAway) {
  const auto stream = device_->create_stream(StreamPriority::kNormal);
  UnitOutcome store, retrieve, event_gone;
  for (UnitOutcome* outcome : {&store, &retrieve, &event_gone})
    outcome->event = device_->create_event();
  const auto good_space = block_space();
  buffer_ = device_->create_buffer(buffer_->size_bytes());
  const auto space = block_space();
  shrink(buffer_->ipc_handle(), kMemoryMagic);
  queue_unit(*stream, store, nullptr, space, gather(store.object));
  ChunkCopy scatter = gather(retrieve.object);
  scatter.direction = CopyDirection::kChunkToBlocks;
  queue_unit(*stream, retrieve, nullptr, space, scatter);
  ManualHostEvent event(*device_);
  const auto seen = opened(event);
  shrink(event.ipc_handle(), kEventMagic);
  queue_unit(*stream, event_gone, seen, good_space, gather(event_gone.object));
  stream->synchronize();
  expect_failed(store);
  expect_failed(retrieve);
  expect_failed(event_gone);
}

TEST_F(HostStreamTest, TakesWorkFromAnyThread) {
  const auto stream = device_->create_stream(StreamPriority::kNormal);
  const auto event = device_->create_event();
  int runs = 0;  // only the stream's thread touches it
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        stream->record(event);
        stream->wait(event);
        stream->host_function([&] { ++runs; });
      }
      stream->synchronize();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(runs, 400);
  EXPECT_TRUE(event->complete());
}

}  // namespace
}  // namespace kvc
