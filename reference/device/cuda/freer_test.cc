// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: what is freed has gone when run() returns, on a thread of its own; what takes for ever
// holds up nobody.
#include "device/cuda/freer.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace kvc::cuda {
namespace {

TEST(Freer, FreesInOrderElsewhereBeforeItReturns) {
  std::thread::id entered;
  std::vector<int> gone;
  std::thread::id gone_on;
  {
    Freer freer([&] { entered = std::this_thread::get_id(); }, std::chrono::hours(1));
    for (int i = 0; i < 3; ++i)
      freer.run(
          [&, i] {
            gone.push_back(i);
            gone_on = std::this_thread::get_id();
          },
          std::chrono::hours(1));
    EXPECT_EQ(gone, (std::vector<int>{0, 1, 2}));
  }
  EXPECT_EQ(gone_on, entered);
  EXPECT_NE(gone_on, std::this_thread::get_id());
}

TEST(Freer, WaitsForNothingLongerThanItsPatience) {
  auto client = std::make_shared<std::promise<void>>();
  auto later = std::make_shared<std::promise<void>>();
  {
    Freer freer([] {}, std::chrono::milliseconds(1));
    const std::chrono::milliseconds short_time(1);
    freer.run([waited = client->get_future().share(), client] { waited.wait(); }, short_time);
    freer.run([later] { later->set_value(); }, short_time);
  }
  client->set_value();  // the thread that was left behind goes on
  later->get_future().wait();
}

}  // namespace
}  // namespace kvc::cuda
