// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Latency: how long replies took, as counts in 32 steps an octave (3 % wide), so that a day of
// traffic takes 16 KiB. Microseconds. No thread-safety of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kvc::conformance {

class Latency {
 public:
  void add(double us);
  std::uint64_t count() const { return count_; }
  // The time below which `share` (0.5, 0.99) of all replies came: the upper edge of its step; 0
  // when there are none.
  double percentile(double share) const;
  double max_us() const { return max_us_; }

 private:
  static constexpr std::size_t kStepsAnOctave = 32;
  static constexpr std::size_t kOctaves = 40;  // up to 2^40 us, twelve days

  static std::size_t step_of(double us);
  static double upper_edge(std::size_t step);

  std::array<std::uint64_t, kStepsAnOctave * kOctaves> counts_{};
  std::uint64_t count_ = 0;
  double max_us_ = 0;
};

}  // namespace kvc::conformance
