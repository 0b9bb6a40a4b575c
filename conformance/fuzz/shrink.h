// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Shrink: the smallest sequence of messages that still shows what a larger one did, by delta
// debugging: fewer messages, one client, fewer frames, shorter frames. Knows nothing of servers: a
// predicate says whether a candidate still shows it. Deterministic where the predicate is.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "conformance/harness/trace.h"

namespace kvc::conformance {

// A message on its way to the server.
struct Step {
  int client = 1;
  Frames frames;
  std::size_t origin = 0;  // which one it was at first, for who has more to say of it

  friend bool operator==(const Step&, const Step&) = default;
};
using Steps = std::vector<Step>;

using StillShows = std::function<bool(const Steps&)>;

struct ShrinkOptions {
  std::size_t tries_max = 5000;
  // Steps that are tried alone before anything else.
  std::vector<std::size_t> suspects;
  bool keep_uids = false;  // first frames stay as they are
  // Asked before each try: whether to give up.
  std::function<bool()> is_over = [] { return false; };
};

struct Shrunk {
  Steps steps;
  std::size_t num_tries = 0;
  bool given_up = false;  // it may not be the smallest
};

// REQUIRES: shows(steps).
Shrunk shrink(Steps steps, const StillShows& shows, const ShrinkOptions& options = {});

}  // namespace kvc::conformance
