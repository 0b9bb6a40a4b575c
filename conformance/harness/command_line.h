// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The command line of kvconform: options, help, and which command they lead to.
#pragma once

#include <functional>

#include "conformance/harness/case.h"

namespace kvc::conformance {

// Answers the exit code: 0, 1 or 2. `make_cases` gives the suite for a release.
int run_command_line(int argc, char** argv,
                     const std::function<CaseList(const Registry&)>& make_cases);

}  // namespace kvc::conformance
