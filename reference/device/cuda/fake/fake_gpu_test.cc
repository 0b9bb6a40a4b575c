// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: an error of CUDA fails the request that met it and no other; a sticky one ends the device
// once, tells all that is queued, and every later call fails with its reason; and what frees memory
// never waits for a client. Method: errors that the fake GPU answers on demand. The tests of
// *_gpu_test.cc run in this program too.
#include "device/cuda/fake/fake_gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda/gpu_test.h"
#include "device/test_support.h"
#include "kvc/device/manual_event.h"

namespace kvc::cuda {
namespace {

class FakeGpuTest : public testing::Test {
 protected:
  FakeGpuTest() {
    fake_gpu::forget_faults();
    device_ = create_cuda_device({"", [this](const std::string& text) { log_.push_back(text); }});
    const TensorDesc desc = test::contiguous_desc("bfloat16", {2, 16, 16, 2, 8});
    auto space = std::make_shared<BlockSpace>();
    space->layout = *discover_layout({desc}, EngineType::kVllm, {}, 32);
    space->buffers.push_back(device_->create_buffer(2 * 2 * 16 * 16 * 2 * 8));
    space_ = std::move(space);
    objects_ = std::make_unique<GpuTest::Objects>(*device_, space_->layout, 2);
    stream_ = device_->create_stream({});
  }
  ~FakeGpuTest() override {
    stream_.reset();
    fake_gpu::forget_faults();
  }

  std::vector<ChunkCopy> chunks() const {
    std::vector<ChunkCopy> all;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto block = static_cast<std::int64_t>(2 * i);
      all.push_back({CopyDirection::kBlocksToChunk, (*objects_)[i], {block, block + 1}, 0});
    }
    return all;
  }
  // One unit; whether it was told to be whole.
  bool unit_is_whole() {
    std::promise<bool> told;
    stream_->begin_unit();
    stream_->copy(space_, chunks());
    stream_->host_function([&](bool completed) { told.set_value(completed); });
    return told.get_future().get();
  }

  // Beside the end itself, a copy that a call was in the midst of may have been logged.
  long num_ends_logged() const {
    return std::count_if(log_.begin(), log_.end(), [](const std::string& text) {
      return text.starts_with("the CUDA device has ended");
    });
  }

  std::vector<std::string> log_;
  std::unique_ptr<Device> device_;
  std::shared_ptr<const BlockSpace> space_;
  std::unique_ptr<GpuTest::Objects> objects_;
  std::unique_ptr<Stream> stream_;
};

TEST_F(FakeGpuTest, AnErrorFailsItsUnitAlone) {
  EXPECT_TRUE(unit_is_whole());
  for (const char* const fault :
       {"cudaMemcpyAsync@1=2", "cudaMemcpyAsync@2=2", "transfer_kernel@1=1", "cudaEventRecord@1=1",
        "cudaEventRecord@2=1", "cudaStreamWaitEvent@1=1", "cudaStreamWaitEvent@2=1",
        "cudaStreamWaitEvent@3=1", "cudaStreamWaitEvent@4=1"}) {
    SCOPED_TRACE(fault);
    fake_gpu::add_faults(fault);
    bool whole = false;
    try {
      whole = unit_is_whole();
    } catch (const DeviceError& error) {
      EXPECT_NE(std::string(error.what()).find("cudaError"), std::string::npos) << error.what();
    }
    EXPECT_FALSE(whole);
    EXPECT_TRUE(unit_is_whole()) << "the next one";
  }
}

TEST_F(FakeGpuTest, AnErrorWhereNothingIsQueuedYetIsThrown) {
  const Bytes garbage(64, 7);
  for (const auto& [fault, call] : std::vector<std::pair<const char*, std::function<void()>>>{
           {"cudaMalloc@1=2", [&] { device_->create_buffer(4096); }},
           {"cudaMemsetAsync@1=1", [&] { device_->create_buffer(4096); }},
           {"cudaIpcGetMemHandle@1=1", [&] { device_->create_buffer(4096); }},
           {"cudaEventCreateWithFlags@1=2", [&] { device_->create_event(); }},
           {"cudaIpcGetEventHandle@1=1", [&] { device_->create_event(); }},
           {"cudaStreamCreateWithPriority@2=2", [&] { device_->create_stream({}); }},
           {"cudaSetDevice@1=101", [&] { static_cast<void>(device_->open_event(garbage)); }},
           {"cudaLaunchHostFunc@1=1", [&] { stream_->host_function([](bool) {}); }}}) {
    SCOPED_TRACE(fault);
    fake_gpu::add_faults(fault);
    EXPECT_THROW(call(), DeviceError);
    call();
  }
  EXPECT_TRUE(unit_is_whole());
  EXPECT_TRUE(log_.empty());
}

TEST_F(FakeGpuTest, AStickyErrorEndsTheDeviceOnceAndTellsAll) {
  EXPECT_TRUE(unit_is_whole());
  std::promise<bool> told;
  {
    ManualEvent engine(*device_);
    stream_->begin_unit();
    stream_->wait(engine.event());
    stream_->copy(space_, chunks());
    stream_->host_function([&](bool completed) { told.set_value(completed); });
    fake_gpu::add_faults("cudaMalloc@1=700");
    EXPECT_THROW(device_->create_buffer(4096), DeviceError);
  }
  EXPECT_FALSE(told.get_future().get());
  ASSERT_EQ(log_.size(), 1u);
  EXPECT_NE(log_[0].find("an illegal memory access"), std::string::npos) << log_[0];
  for (const std::function<void()>& call : std::vector<std::function<void()>>{
           [&] { device_->create_event(); }, [&] { stream_->begin_unit(); },
           [&] { device_->create_stream({}); },
           [&] { static_cast<void>(device_->open_event(Bytes(64, 1))); }}) {
    try {
      call();
      ADD_FAILURE() << "a call that works";
    } catch (const DeviceError& error) {
      EXPECT_NE(std::string(error.what()).find("an illegal memory access"), std::string::npos);
    }
  }
  EXPECT_EQ(log_.size(), 1u);
}

TEST_F(FakeGpuTest, AKernelThatFailsEndsTheDeviceAtTheNextLook) {
  EXPECT_TRUE(unit_is_whole());
  fake_gpu::add_faults("transfer_kernel@1=700");
  std::promise<bool> told;
  try {
    stream_->begin_unit();
    stream_->copy(space_, chunks());
    stream_->host_function([&](bool completed) { told.set_value(completed); });
    EXPECT_THROW(stream_->synchronize(), DeviceError);
    EXPECT_FALSE(told.get_future().get());
  } catch (const DeviceError&) {  // the kernel was faster than the calls
  }
  EXPECT_EQ(num_ends_logged(), 1);
}

// A kernel out of bounds would be a sticky error here, so this proves that the others' are not.
TEST_F(FakeGpuTest, MeetsAKernelThatLeavesItsMemory) {
  auto wrong = std::make_shared<BlockSpace>(*space_);
  wrong->layout.num_blocks = 100000;
  auto copies = chunks();
  copies.resize(1);
  copies[0].block_ids = {99998, 99999};
  // Which of the calls meets it is a race: the kernel may be faster than the rest.
  const auto whole_unit = [&] {
    stream_->begin_unit();
    stream_->copy(wrong, copies);
    stream_->synchronize();
  };
  EXPECT_THROW(whole_unit(), DeviceError);
}

TEST_F(FakeGpuTest, AWaitThatTakesTooLongFailsItsUnitAlone) {
  StreamOptions options;
  options.wait_limit = std::chrono::milliseconds(20);
  stream_ = device_->create_stream(options);
  const ManualEvent engine(*device_);  // never completes in this test
  const auto done = device_->create_event();
  std::promise<bool> told;
  stream_->begin_unit();
  stream_->wait(engine.event());
  stream_->copy(space_, chunks());
  stream_->host_function([&](bool completed) { told.set_value(completed); });
  stream_->record(done);
  EXPECT_FALSE(told.get_future().get());
  done->synchronize();
  EXPECT_TRUE(unit_is_whole());
}

TEST_F(FakeGpuTest, AStreamIsDestroyedThoughAClientIsWaitedFor) {
  const ManualEvent engine(*device_);
  std::promise<bool> told;
  stream_->begin_unit();
  stream_->wait(engine.event());
  stream_->copy(space_, chunks());
  stream_->host_function([&](bool completed) { told.set_value(completed); });
  stream_.reset();
  EXPECT_FALSE(told.get_future().get());
  EXPECT_TRUE(log_.empty());
  stream_ = device_->create_stream({});
  EXPECT_TRUE(unit_is_whole());
}

TEST_F(FakeGpuTest, MemoryGoesWhileAClientIsWaitedFor) {
  std::shared_ptr<Buffer> buffer = device_->create_buffer(4096);
  {
    const ManualEvent first(*device_);
    { const ManualEvent second(*device_); }
    buffer.reset();
    const auto another = device_->create_stream({});
  }
  EXPECT_TRUE(unit_is_whole());
}

}  // namespace
}  // namespace kvc::cuda
