// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Runs cases as tests of GoogleTest: its filter, its sharding (GTEST_TOTAL_SHARDS), its JUnit file,
// under the case's own id. Nothing of what GoogleTest prints is shown. Once in a process.
#pragma once

#include <functional>
#include <string>

#include "conformance/harness/case.h"

namespace kvc::conformance {

struct GtestOptions {
  std::string filter = "*";  // patterns with * and ?, joined by ':', those after a '-' exclude
  std::string junit_path;    // empty: none
};

// What a case is to GoogleTest.
struct TestOutcome {
  enum class Kind { kPassed, kFailed, kSkipped } kind = Kind::kPassed;
  std::string text;  // for the JUnit file
};

// Calls `run_one` for each case that the filter and the shard choose, with the number of them.
// Answers how many were run.
std::size_t run_as_gtest(const CaseList& cases, const GtestOptions& options,
                         const std::function<TestOutcome(const CaseSpec&, std::size_t)>& run_one);

}  // namespace kvc::conformance
