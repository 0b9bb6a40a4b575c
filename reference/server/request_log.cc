// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/request_log.h"

#include <fmt/format.h>

#include <utility>

namespace kvc::server {

RequestLog::RequestLog(Sink sink, Clock clock)
    : sink_(std::move(sink)), clock_(std::move(clock)), window_start_(clock_()) {}

void RequestLog::refused(const std::string& line) {
  std::string suppressed;
  bool write = false;
  {
    const std::lock_guard lock(mutex_);
    const auto now = clock_();
    if (now - window_start_ >= std::chrono::seconds(1)) {
      suppressed = take_suppressed_line();
      window_start_ = now;
      num_written_ = 0;
    }
    write = num_written_ < kRefusalsPerSecond;
    if (write)
      ++num_written_;
    else
      ++num_suppressed_;
  }
  if (!suppressed.empty()) sink_.warning(suppressed);
  if (write) sink_.warning(printable(line));
}

void RequestLog::tick() {
  std::string suppressed;
  {
    const std::lock_guard lock(mutex_);
    if (clock_() - window_start_ >= std::chrono::seconds(1)) suppressed = take_suppressed_line();
  }
  if (!suppressed.empty()) sink_.warning(suppressed);
}

std::string RequestLog::take_suppressed_line() {
  if (num_suppressed_ == 0) return "";
  return fmt::format("{} more refused requests, not shown",
                     std::exchange(num_suppressed_, std::size_t{0}));
}

std::string RequestLog::printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (out.size() >= kRefusalCharactersMax) return out + "…";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
      out += c;
    else
      out += fmt::format("\\x{:02x}", byte);
  }
  return out;
}

}  // namespace kvc::server
