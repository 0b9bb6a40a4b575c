// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: a host function runs exactly once and is told the truth, whether CUDA gets to it, the unit
// failed, or the device ended; and what it kept alive goes on the janitor's thread. CUDA's part is
// played by calling run().
#include "device/cuda/host_work.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kvc::cuda {
namespace {

class HostWorkTest : public testing::Test {
 protected:
  void* add(const std::string& name, std::shared_ptr<WorkUnit> unit = nullptr,
            std::vector<Janitor::Thing> kept = {}) {
    if (unit == nullptr) unit = std::make_shared<WorkUnit>();
    return work_->add(
        [this, name](bool completed) { ran_.push_back(name + (completed ? " done" : " failed")); },
        std::move(unit), std::move(kept));
  }

  const std::shared_ptr<Janitor> janitor_ = std::make_shared<Janitor>();
  const std::shared_ptr<HostWork> work_ = std::make_shared<HostWork>(janitor_);
  std::vector<std::string> ran_;
};

TEST_F(HostWorkTest, TellsWhetherTheUnitIsWhole) {
  const auto failed = std::make_shared<WorkUnit>();
  void* const first = add("a");
  void* const second = add("b", failed);
  failed->failed = true;
  EXPECT_FALSE(work_->empty());
  HostWork::run(first);
  HostWork::run(second);
  EXPECT_EQ(ran_, (std::vector<std::string>{"a done", "b failed"}));
  EXPECT_TRUE(work_->empty());
}

TEST_F(HostWorkTest, WhatCouldNotBeQueuedFails) {
  HostWork::drop(add("a"));
  EXPECT_EQ(ran_, (std::vector<std::string>{"a failed"}));
  EXPECT_TRUE(work_->drained_within(std::chrono::milliseconds(0)));
}

TEST_F(HostWorkTest, AfterTheEndAllHaveFailedInOrderAndNoneRunsAgain) {
  void* const first = add("a");
  void* const second = add("b");
  void* const third = add("c");
  HostWork::run(first);
  work_->fail_all();
  EXPECT_EQ(ran_, (std::vector<std::string>{"a done", "b failed", "c failed"}));
  EXPECT_TRUE(work_->empty());
  HostWork::run(second);  // CUDA came to it all the same
  HostWork::drop(third);
  EXPECT_EQ(ran_.size(), 3u);
}

TEST_F(HostWorkTest, KeepsWhatIsNeededUntilItHasRun) {
  auto thing = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = thing;
  std::thread::id gone_on;
  std::shared_ptr<const void> kept(thing.get(), [&gone_on, thing](const void*) mutable {
    gone_on = std::this_thread::get_id();
    thing.reset();
  });
  thing.reset();
  void* const added = add("a", nullptr, {std::move(kept)});
  EXPECT_FALSE(alive.expired());
  HostWork::run(added);
  janitor_->settle();
  EXPECT_TRUE(alive.expired());
  EXPECT_NE(gone_on, std::this_thread::get_id());
}

TEST_F(HostWorkTest, AnEmptyFunctionKeepsToo) {
  const auto thing = std::make_shared<int>(1);
  void* const added = work_->add({}, std::make_shared<WorkUnit>(), {thing});
  EXPECT_EQ(thing.use_count(), 2);
  HostWork::run(added);
  janitor_->settle();
  EXPECT_EQ(thing.use_count(), 1);
}

TEST_F(HostWorkTest, DrainingHasALimit) {
  void* const added = add("a");
  EXPECT_FALSE(work_->drained_within(std::chrono::milliseconds(1)));
  std::thread cuda([&] { HostWork::run(added); });
  EXPECT_TRUE(work_->drained_within(std::chrono::minutes(1)));
  cuda.join();
}

}  // namespace
}  // namespace kvc::cuda
