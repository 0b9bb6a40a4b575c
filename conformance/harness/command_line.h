// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The command line of kvconform: options, help, and which command they lead to.
#pragma once

#include <functional>
#include <string>

#include "conformance/harness/case.h"

namespace kvc::conformance {

// What the commands judge by, for a release.
struct Suites {
  std::function<CaseList(const Registry&)> socket;
  // Golden data is read from a folder like golden/0.4.5, or, where that is empty, is built in.
  std::function<CaseList(const Registry&, const std::string& golden_folder)> pipe;

  CaseList all(const Registry& registry) const {
    return merged(socket(registry), pipe(registry, ""));
  }
};

// Answers the exit code: 0, 1 or 2.
int run_command_line(int argc, char** argv, const Suites& suites);

}  // namespace kvc::conformance
