// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Clock: where the engine gets the time from. Passed in, so that tests let locks expire without
// sleeping.
#pragma once

#include <chrono>
#include <functional>

namespace kvc {

using TimePoint = std::chrono::steady_clock::time_point;
using Clock = std::function<TimePoint()>;

inline Clock steady_clock() {
  return [] { return std::chrono::steady_clock::now(); };
}

}  // namespace kvc
