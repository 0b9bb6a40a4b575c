// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ServerKeeper: a server that is tried again and again, and may die of it: started anew when it is
// dead, or when a try needs one that has seen nothing. A server that takes long to start is only
// started anew when it must be. Throws ServerError. Not thread-safe.
#pragma once

#include <chrono>
#include <utility>

#include "conformance/harness/run_context.h"
#include "conformance/harness/server_under_test.h"

namespace kvc::conformance {

class ServerKeeper {
 public:
  // Both outlive the keeper.
  ServerKeeper(RunContext& context, ServerUnderTest& server) : context_(context), server_(server) {}

  // A server that answers; false: it is dead, and nobody can start it again. `fresh`: one that has
  // seen nothing, unless it is slow to start.
  bool make_ready(bool fresh);
  // One that has seen nothing, however long it takes; false where nobody can start one.
  bool start_anew();

  void note_death() { dead_ = true; }
  bool is_dead() const { return dead_; }
  bool can_start() const { return num_starts_ == 0 || server_.can_restart(); }
  bool is_slow() const { return start_time_ > kSlow; }
  int num_starts() const { return num_starts_; }
  // Set by a start, until somebody takes note: what the server was told before is forgotten.
  bool take_started() { return std::exchange(started_, false); }

 private:
  static constexpr std::chrono::milliseconds kSlow{1000};

  RunContext& context_;
  ServerUnderTest& server_;
  bool dead_ = true;
  bool used_ = false;
  bool started_ = false;
  int num_starts_ = 0;
  std::chrono::milliseconds start_time_{0};
};

}  // namespace kvc::conformance
