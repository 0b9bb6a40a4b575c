// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/host/host_event.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "device/host/host_handle.h"
#include "device/test_support.h"
#include "kvc/device/host_device.h"

namespace kvc {
namespace {

class HostEventTest : public ::testing::Test {
 protected:
  // The event as another process sees it.
  std::shared_ptr<Event> opened(const Bytes& handle) {
    Result<std::shared_ptr<Event>> event = other_->open_event(handle);
    EXPECT_TRUE(event.ok()) << event.error().text();
    return std::move(event).value();
  }

  std::unique_ptr<Device> device_ = create_host_device(test::shm_prefix() + "a");
  std::unique_ptr<Device> other_ = create_host_device(test::shm_prefix() + "b");
};

TEST_F(HostEventTest, IsCompleteWhenNeverRecorded) {
  const auto event = device_->create_event();
  EXPECT_TRUE(event->complete());
  event->synchronize();
  EXPECT_TRUE(opened(event->ipc_handle())->complete());
}

TEST_F(HostEventTest, CompletesWhenTheStreamGetsThere) {
  ManualHostEvent gate(*device_);
  const auto event = device_->create_event();
  const auto seen = opened(event->ipc_handle());
  const auto stream = device_->create_stream(StreamPriority::kNormal);
  stream->wait(opened(gate.ipc_handle()));
  stream->record(event);
  EXPECT_FALSE(event->complete()) << "from the moment the record is asked for";
  EXPECT_FALSE(seen->complete());
  gate.complete();
  seen->synchronize();
  EXPECT_TRUE(event->complete());
}

TEST_F(HostEventTest, IsTwoLittleEndianNumbers) {
  const auto event = device_->create_event();
  const auto stream = device_->create_stream(StreamPriority::kNormal);
  for (int i = 0; i < 3; ++i) stream->record(event);
  stream->synchronize();
  const Result<std::string> name = read_host_handle(event->ipc_handle(), kEventMagic);
  ASSERT_TRUE(name.ok());
  const int descriptor = ::shm_open(name->c_str(), O_RDONLY, 0);
  ASSERT_GE(descriptor, 0);
  std::uint8_t bytes[17] = {};
  EXPECT_EQ(::read(descriptor, bytes, sizeof bytes), 16);
  ::close(descriptor);
  EXPECT_EQ(to_hex({bytes, 16}), "03000000000000000300000000000000");
}

TEST_F(HostEventTest, KeepsTheLaterOfTwoRecords) {
  ManualHostEvent gate(*device_);
  const auto event = device_->create_event();
  const auto slow = device_->create_stream(StreamPriority::kNormal);
  const auto fast = device_->create_stream(StreamPriority::kHigh);
  slow->wait(opened(gate.ipc_handle()));
  slow->record(event);
  fast->record(event);
  fast->synchronize();
  EXPECT_TRUE(event->complete()) << "of the last record asked for";
  gate.complete();
  slow->synchronize();
  EXPECT_TRUE(event->complete()) << "the first record does not take it back";
}

TEST_F(HostEventTest, GivesUpAfterItsLimit) {
  ManualHostEvent gate(*device_);
  const auto event = opened(gate.ipc_handle());
  EXPECT_FALSE(event->synchronize_for(std::chrono::milliseconds(0)));
  EXPECT_FALSE(event->synchronize_for(std::chrono::milliseconds(2)));
  gate.complete();
  EXPECT_TRUE(event->synchronize_for(std::chrono::milliseconds(0)));
}

TEST_F(HostEventTest, NeverCompletesWhenItsMemoryIsGone) {
  const auto event = device_->create_event();
  const auto seen = opened(event->ipc_handle());
  const Result<std::string> name = read_host_handle(event->ipc_handle(), kEventMagic);
  ASSERT_TRUE(name.ok());
  const int descriptor = ::shm_open(name->c_str(), O_RDWR, 0);
  ASSERT_EQ(::ftruncate(descriptor, 0), 0);
  ::close(descriptor);
  EXPECT_FALSE(seen->complete()) << "zeros would say that it is";
  seen->synchronize();  // returns
  EXPECT_FALSE(seen->synchronize_for(std::chrono::hours(1)));
  EXPECT_FALSE(other_->open_event(event->ipc_handle()).ok()) << "too small for an event";
}

TEST_F(HostEventTest, IsSafeToLookAtFromManyThreads) {
  ManualHostEvent gate(*device_);
  const auto event = opened(gate.ipc_handle());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { event->synchronize(); });
  gate.complete();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace kvc
