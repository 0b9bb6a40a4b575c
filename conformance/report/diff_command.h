// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// `kvconform diff OLD NEW`: reads two JSON reports, tells what is new, and ends with 1 only for a
// regression. Throws UsageError for files that are no reports.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "conformance/harness/ledger.h"

namespace kvc::conformance {

struct DiffOptions {
  std::string before;
  std::string now;
  std::vector<std::string> again;  // further runs of the server of `now`
  std::string markdown;            // a file; empty: none
};

// Answers the exit code.
int diff_command(const DiffOptions& options, const Ledger& ledger, std::ostream& out);

}  // namespace kvc::conformance
