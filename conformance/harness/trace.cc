// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/trace.h"

namespace kvc::conformance {

void Trace::begin() {
  std::scoped_lock lock(mutex_);
  start_ = std::chrono::steady_clock::now();
  entries_.clear();
}

void Trace::add(int client, bool sent, const Frames& frames) {
  std::scoped_lock lock(mutex_);
  const std::chrono::duration<double, std::milli> age = std::chrono::steady_clock::now() - start_;
  entries_.push_back({age.count(), client, sent, frames});
}

std::vector<TraceEntry> Trace::entries() const {
  std::scoped_lock lock(mutex_);
  return entries_;
}

}  // namespace kvc::conformance
