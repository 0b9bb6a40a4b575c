// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: an allocation is opened once, however many tensors lie in it and threads ask, and closed
// with its last user; what does not open leaves nothing.
#include "device/cuda/open_once.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace kvc::cuda {
namespace {

// Counts itself, as CUDA's mappings do.
class Mapping {
 public:
  Mapping(std::atomic<int>& num_opened, std::atomic<int>& num_open) : num_open_(num_open) {
    ++num_opened;
    ++num_open_;
  }
  ~Mapping() { --num_open_; }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

 private:
  std::atomic<int>& num_open_;
};

using Mappings = OpenOnce<std::string, Mapping>;

class OpenOnceTest : public testing::Test {
 protected:
  Result<std::shared_ptr<Mapping>> get(const std::string& key) {
    return mappings_->get(key, [this]() -> Result<std::unique_ptr<Mapping>> {
      return std::make_unique<Mapping>(num_opened_, num_open_);
    });
  }

  std::atomic<int> num_opened_{0};
  std::atomic<int> num_open_{0};
  const std::shared_ptr<Mappings> mappings_ = std::make_shared<Mappings>();
};

TEST_F(OpenOnceTest, SharesWhatIsOpen) {
  auto first = get("a").value();
  auto second = get("a").value();
  EXPECT_EQ(first, second);
  EXPECT_EQ(num_opened_, 1);
  auto other = get("b").value();
  EXPECT_EQ(num_opened_, 2);
  first.reset();
  EXPECT_EQ(num_open_, 2);
  second.reset();
  EXPECT_EQ(num_open_, 1) << "closed with the last user";
  EXPECT_EQ(mappings_->size(), 1u);
  other.reset();
  EXPECT_EQ(mappings_->size(), 0u);
  EXPECT_TRUE(get("a").ok());
  EXPECT_EQ(num_opened_, 3) << "and opened again";
}

TEST_F(OpenOnceTest, WhatDoesNotOpenLeavesNothing) {
  const auto refused = mappings_->get("a", []() -> Result<std::unique_ptr<Mapping>> {
    return Error{Errc::kNotFound, "", "garbage"};
  });
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "garbage");
  EXPECT_EQ(mappings_->size(), 0u);
  EXPECT_TRUE(get("a").ok());
}

TEST_F(OpenOnceTest, OutlivesItsTable) {
  auto table = std::make_shared<Mappings>();
  auto mapping = table
                     ->get("a",
                           [this]() -> Result<std::unique_ptr<Mapping>> {
                             return std::make_unique<Mapping>(num_opened_, num_open_);
                           })
                     .value();
  table.reset();
  EXPECT_EQ(num_open_, 1);
  mapping.reset();
  EXPECT_EQ(num_open_, 0);
}

TEST_F(OpenOnceTest, ManyThreadsNeverLoseCount) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this, i] {
      for (int round = 0; round < 2000; ++round) {
        const auto mapping = get(std::to_string((i + round) % 3)).value();
        ASSERT_GT(num_open_, 0);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_open_, 0);
  EXPECT_EQ(mappings_->size(), 0u);
}

}  // namespace
}  // namespace kvc::cuda
