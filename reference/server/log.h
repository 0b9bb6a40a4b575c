// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The server's log: spdlog on stderr. stdout is for `kvserver ready`.
#pragma once

#include <memory>
#include <string>

#include "server/request_log.h"

namespace spdlog {
class logger;
}

namespace kvc::server {

std::shared_ptr<spdlog::logger> create_logger(const std::string& level);
RequestLog::Sink log_sink(std::shared_ptr<spdlog::logger> logger);

}  // namespace kvc::server
