// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: the parts of the CUDA device that need no GPU do what they promise: UUIDs as text, a device
// that ends once and tells everyone, a janitor that lets go elsewhere, pages that prefer a node.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "device/cuda/device_health.h"
#include "device/cuda/device_uuid.h"
#include "device/cuda/host_numa.h"
#include "device/cuda/janitor.h"

namespace kvc::cuda {
namespace {

constexpr UuidBytes kUuid = {0xcf, 0x9e, 0xc5, 0xe8, 0x01, 0x23, 0x45, 0x67,
                             0x89, 0xab, 0xcd, 0xef, 0x00, 0x10, 0x20, 0x30};

TEST(DeviceUuid, IsWrittenAsTorchDoes) {
  EXPECT_EQ(uuid_text(kUuid), "cf9ec5e8-0123-4567-89ab-cdef00102030");
}

TEST(DeviceUuid, NamesTheGpuInEveryUsualForm) {
  for (const char* const text :
       {"cf9ec5e8-0123-4567-89ab-cdef00102030", "GPU-cf9ec5e8-0123-4567-89ab-cdef00102030",
        "CF9EC5E8-0123-4567-89AB-CDEF00102030", "gpu-CF9EC5E8-0123-4567-89ab-cdef00102030"})
    EXPECT_TRUE(names_uuid(text, kUuid)) << text;
  for (const char* const text :
       {"", "GPU-", "0", "HOST-0", "cf9ec5e8-0123-4567-89ab-cdef00102031",
        "cf9ec5e8-0123-4567-89ab-cdef0010203", "cf9ec5e8-0123-4567-89ab-cdef001020300",
        "GPU-GPU-cf9ec5e8-0123-4567-89ab-cdef00102030", "cf9ec5e801234567 89abcdef00102030"})
    EXPECT_FALSE(names_uuid(text, kUuid)) << text;
}

TEST(DeviceHealth, EndsOnceAndTellsEveryone) {
  std::vector<std::string> logged;
  DeviceHealth health([&](const std::string& text) { logged.push_back(text); });
  int told_first = 0, told_removed = 0, told_late = 0;
  health.add([&] { ++told_first; });
  const DeviceHealth::Ticket ticket = health.add([&] { ++told_removed; });
  health.remove(ticket);
  EXPECT_FALSE(health.ended());
  EXPECT_EQ(health.reason(), "");

  health.end("an illegal address");
  health.end("something later");
  EXPECT_TRUE(health.ended());
  EXPECT_EQ(health.reason(), "an illegal address");
  ASSERT_EQ(logged.size(), 1u);
  EXPECT_NE(logged[0].find("an illegal address"), std::string::npos);
  EXPECT_EQ(told_first, 1);
  EXPECT_EQ(told_removed, 0);
  health.add([&] { ++told_late; });
  EXPECT_EQ(told_late, 1);
}

TEST(Janitor, LetsGoOnAnotherThread) {
  std::atomic<int> num_gone{0};
  std::thread::id gone_on;
  // Moved in: a braced list would keep a share of its own until the end of the call, and this
  // thread would let go last when the janitor is the faster one.
  const auto things = [&](int num_things) {
    std::vector<Janitor::Thing> made;
    for (int i = 0; i < num_things; ++i) {
      made.emplace_back(new int(0), [&](int* value) {
        delete value;
        gone_on = std::this_thread::get_id();
        ++num_gone;
      });
    }
    return made;
  };
  {
    Janitor janitor;
    janitor.give(things(2));
    janitor.settle();
    EXPECT_EQ(num_gone, 2);
    EXPECT_NE(gone_on, std::this_thread::get_id());
    for (int i = 0; i < 100; ++i) janitor.give(things(1));
  }
  EXPECT_EQ(num_gone, 102) << "what was given before the end is gone with it";
}

TEST(HostNuma, RefusesWhatIsNoNode) {
  std::vector<std::uint8_t> memory(4096);
  EXPECT_FALSE(prefer_numa_node(memory, -1));
  EXPECT_FALSE(prefer_numa_node(memory, 1 << 20));
  EXPECT_FALSE(prefer_numa_node({}, 0));
}

}  // namespace
}  // namespace kvc::cuda
