// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// `kvconform watch`: a proxy between clients and a server that says what it sees, and records it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <ostream>
#include <string>

#include "conformance/harness/terminal_report.h"
#include "kvc/protocol/registry.h"

namespace kvc::conformance {

struct WatchOptions {
  std::string listen;
  std::string target;
  std::string release = "0.4.5";
  std::string record;  // a .kvr file; empty: none
  bool json = false;
  bool forward_only = false;  // judge and record nothing: what the looking costs
  int overdue_ms = 5000;
  double budget_s = 0;  // 0: until a signal
};

// Adds the subcommand; its options are written to `options`, which must outlive `app`.
CLI::App* add_watch(CLI::App& app, WatchOptions& options);

// Ends on SIGINT, SIGTERM or when the budget is spent. Exit code 0: no fault was seen; 1: one was.
// Throws UsageError for an endpoint or a file that cannot be used.
int watch_command(const WatchOptions& options, std::ostream& out, TerminalStyle style);

}  // namespace kvc::conformance
