// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// StreamEnder: an instance that was unregistered ends, though its client died and left a wait.
#include "engine/registration.h"

#include <gtest/gtest.h>

#include <future>

#include "engine/engine_test_support.h"
#include "kvc/device/host_device.h"

namespace kvc {
namespace {

// An instance with one unit of work in hand that waits for `event`; `told` learns whether the unit
// was completed.
std::unique_ptr<Registration> waiting_for(Device& device, const ManualHostEvent& event,
                                          std::promise<bool>& told) {
  auto registration = std::make_unique<Registration>();
  registration->stream = device.create_stream({});
  registration->stream->begin_unit();
  registration->stream->wait(event.event());
  registration->stream->host_function([&](bool completed) { told.set_value(completed); });
  return registration;
}

TEST(StreamEnder, GivesUpWhatADeadClientIsWaitedFor) {
  const std::unique_ptr<Device> device = create_host_device(test::shm_prefix("n"));
  const ManualHostEvent event(*device);  // never completes
  std::promise<bool> told;
  StreamEnder ender(std::chrono::milliseconds(1));
  ender.take(waiting_for(*device, event, told));
  EXPECT_FALSE(told.get_future().get());
}

TEST(StreamEnder, LetsWorkFinish) {
  const std::unique_ptr<Device> device = create_host_device(test::shm_prefix("n"));
  ManualHostEvent event(*device);
  std::promise<bool> told;
  StreamEnder ender(std::chrono::hours(1));
  ender.take(waiting_for(*device, event, told));
  event.complete();
  EXPECT_TRUE(told.get_future().get());
}

}  // namespace
}  // namespace kvc
