// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// RequestLog: what the server says about requests: one line each at debug level, one warning for
// each that is refused. A peer that floods must not fill a disk, so refusals are rate limited: at
// most kRefusalsPerSecond lines a second, and then how many were left out. Text from peers is
// escaped. Any thread may call.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "engine/clock.h"

namespace kvc::server {

inline constexpr std::size_t kRefusalsPerSecond = 20;
// A line of a refusal is cut here: a codec error may quote what it refused.
inline constexpr std::size_t kRefusalCharactersMax = 400;

class RequestLog {
 public:
  struct Sink {
    std::function<bool()> wants_debug;
    std::function<void(const std::string&)> debug;
    std::function<void(const std::string&)> warning;
  };
  RequestLog(Sink sink, Clock clock);

  bool wants_debug() const { return sink_.wants_debug(); }
  void request(const std::string& line) { sink_.debug(printable(line)); }
  void refused(const std::string& line);

  // Says how many refusals were left out, when their second is over. The loop calls it when idle.
  void tick();

  // `text` with everything but printable ASCII as \xNN, cut to kRefusalCharactersMax.
  static std::string printable(std::string_view text);

 private:
  std::string take_suppressed_line();  // REQUIRES: mutex_ held

  const Sink sink_;
  const Clock clock_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point window_start_;
  std::size_t num_written_ = 0;
  std::size_t num_suppressed_ = 0;
};

}  // namespace kvc::server
