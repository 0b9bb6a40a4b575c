// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/watch/latency.h"

#include <algorithm>
#include <cmath>

namespace kvc::conformance {

std::size_t Latency::step_of(double us) {
  if (!(us > 1)) return 0;
  const double step = std::log2(us) * static_cast<double>(kStepsAnOctave);
  return std::min(static_cast<std::size_t>(step), kStepsAnOctave * kOctaves - 1);
}

double Latency::upper_edge(std::size_t step) {
  return std::exp2(static_cast<double>(step + 1) / static_cast<double>(kStepsAnOctave));
}

void Latency::add(double us) {
  ++counts_[step_of(us)];
  ++count_;
  max_us_ = std::max(max_us_, us);
}

double Latency::percentile(double share) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(share * static_cast<double>(count_));
  double seen = 0;
  for (std::size_t step = 0; step < counts_.size(); ++step) {
    seen += static_cast<double>(counts_[step]);
    if (counts_[step] > 0 && seen >= wanted) return std::min(upper_edge(step), max_us_);
  }
  return max_us_;
}

}  // namespace kvc::conformance
