// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace kvc::server {

std::shared_ptr<spdlog::logger> create_logger(const std::string& level) {
  auto logger = spdlog::stderr_color_mt("kvserver");
  logger->set_level(spdlog::level::from_str(level));
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %^%l%$ %v");
  return logger;
}

RequestLog::Sink log_sink(std::shared_ptr<spdlog::logger> logger) {
  return RequestLog::Sink{
      [logger] { return logger->should_log(spdlog::level::debug); },
      [logger](const std::string& line) { logger->debug("{}", line); },
      [logger](const std::string& line) { logger->warn("{}", line); },
  };
}

}  // namespace kvc::server
