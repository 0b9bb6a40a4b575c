// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/fuzz/server_keeper.h"

namespace kvc::conformance {

bool ServerKeeper::start_anew() {
  if (num_starts_ > 0 && !server_.can_restart()) {
    used_ = true;
    return false;
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  server_.start(context_);
  start_time_ = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
  ++num_starts_;
  dead_ = false;
  started_ = true;
  used_ = true;
  return true;
}

bool ServerKeeper::make_ready(bool fresh) {
  const bool anew = dead_ || (fresh && used_ && server_.can_restart() && !is_slow());
  if (anew && !start_anew()) return !dead_;
  used_ = true;
  return true;
}

}  // namespace kvc::conformance
