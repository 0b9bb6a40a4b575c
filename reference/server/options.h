// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Options: kvserver's command line. Names are LMCache's where it has them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "engine/paragraphs.h"

namespace kvc::server {

enum class DeviceKind { kAuto, kHost, kCuda };

struct Options {
  std::string bind = "tcp://127.0.0.1:5555";
  std::size_t chunk_size = 256;
  DeviceKind device = DeviceKind::kAuto;
  double l1_size_gb = 1.0;
  std::size_t max_gpu_workers = 1;
  std::size_t max_cpu_workers = 1;
  std::size_t read_ttl_s = 300;
  std::size_t write_ttl_s = 600;
  std::string event_log;  // empty: none
  ParagraphPatterns paragraphs;
  std::string log_level = "info";
  bool testee = false;  // no server: answer the testee pipe

  std::size_t l1_size_bytes() const;
  // Whether others than this machine can reach the endpoint.
  bool binds_beyond_loopback() const;
};

// Reads the command line. Where there is nothing to run (--help, or a bad option, which has been
// said on stderr), sets exit_code and answers nothing.
std::optional<Options> parse_options(int argc, const char* const* argv, int& exit_code);

}  // namespace kvc::server
