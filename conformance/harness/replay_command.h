// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// `kvconform replay` and `kvconform shrink`: a replay file, or a file of golden/messages, sent to a
// server again; and made as small as it can be while the server still does what it did.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "conformance/harness/replay_file.h"
#include "conformance/harness/run_context.h"
#include "conformance/harness/run_options.h"

namespace kvc::conformance {

struct ReplayCommand {
  RunOptions server;  // target, start, timeouts, repro_folder
  std::string file;
  bool timing = false;
  bool exact = false;
  std::string until;       // of shrink; empty: what the file's verdict says
  double shrink_s = 300;   // of shrink
  std::string out_folder;  // of shrink
};

// Throws UsageError for a file that cannot be read.
ReplayFile load_replay(const std::string& path);

// Both answer the exit code; `on_context` is told the context that a signal is to interrupt.
using OnContext = std::function<void(RunContext&)>;

// 0: the server lives and gave each recorded reply (with `exact`: as it was, and no other); 1: not.
int replay_command(const ReplayCommand& command, std::ostream& out, const OnContext& on_context);

// 0: what is left is in out_folder; 1: the file does not show what it is to show.
int shrink_command(const ReplayCommand& command, std::ostream& out, const OnContext& on_context);

}  // namespace kvc::conformance
