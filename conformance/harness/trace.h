// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Trace: what a case sent and received, in order, with the time since the case began. It is what a
// failure's report shows and what its repro/ folder replays. Owns copies of all frames. Any thread
// may add, so that a case can use a client a thread.
#pragma once

#include <chrono>
#include <mutex>
#include <vector>

#include "kvc/protocol/bytes.h"

namespace kvc::conformance {

using Frames = std::vector<Bytes>;

struct TraceEntry {
  double t_ms = 0;   // since the case began
  int client = 0;    // counts from 1 within a case
  bool sent = true;  // by us; else received
  Frames frames;
};

class Trace {
 public:
  // Forgets everything and starts the clock anew.
  void begin();
  void add(int client, bool sent, const Frames& frames);
  std::vector<TraceEntry> entries() const;

 private:
  mutable std::mutex mutex_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<TraceEntry> entries_;
};

}  // namespace kvc::conformance
