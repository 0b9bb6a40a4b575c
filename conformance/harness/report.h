// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// RunReport: everything that a run found out, as the printed summary and the files need it, and
// what follows from it: the score and the exit code. A plain value.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "conformance/harness/capabilities.h"
#include "conformance/harness/grade.h"

namespace kvc::conformance {

struct RunReport {
  std::string release;                 // of the protocol
  std::string command = "run";         // of kvconform
  std::string noun = "server";         // what is judged
  std::string server;                  // in words
  std::string server_version;          // as the user calls it; empty: not said
  std::string rerun_options;           // "--target …": how to judge the same server again
  std::vector<std::string> arguments;  // of this run
  std::string started_at;              // "2026-01-31T12:00:00Z"
  std::uint64_t seed = 0;
  bool strict = false;
  std::string expectations_file;  // empty: none
  std::string server_log;         // empty: none
  std::string repro_folder;
  Capabilities capabilities;
  std::vector<std::string> implemented;  // commands of a testee
  std::uint64_t num_checks = 0;          // within the cases, where they count them
  std::vector<GradedResult> results;
  std::size_t num_planned = 0;        // cases that the filter chose
  bool ended_early = false;           // by a signal or the budget
  bool finished = false;              // false in a file written on the way
  std::vector<std::string> failures;  // of the server, outside any case: exit code 1
  std::vector<std::string> problems;  // of the harness or its use: exit code 2
  double duration_s = 0;
};

struct Tally {
  std::array<int, 8> by_grade{};    // index: Grade
  std::array<int, 6> by_verdict{};  // index: Verdict; cases that were run or skipped
  int required = 0;                 // required cases that apply to this server
  int required_passed = 0;

  int of(Grade grade) const { return by_grade.at(static_cast<std::size_t>(grade)); }
  int of(Verdict verdict) const { return by_verdict.at(static_cast<std::size_t>(verdict)); }
};
Tally tally(const RunReport& report);

// 0: all required rules hold, or fail as listed. 1: one does not, or a line is stale. 2: the
// harness or its use is at fault, or the run ended before all was judged.
int exit_code(const RunReport& report);

// The command that runs this one case again.
std::string rerun_command(const RunReport& report, const std::string& id);

}  // namespace kvc::conformance
