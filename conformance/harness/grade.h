// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Grade: what a verdict means for the run, once the requirement's level and the list of expected
// failures are looked at. Pure; no I/O.
#pragma once

#include <string>
#include <string_view>

#include "conformance/harness/case_result.h"
#include "conformance/harness/expectations.h"
#include "conformance/harness/ledger.h"

namespace kvc::conformance {

enum class Grade {
  kPass,
  kFail,             // a required rule does not hold
  kExpectedFailure,  // it does not, as a line of the expectations says
  kStaleLine,        // the line says a failure that did not come, or not so
  kNote,             // a SHOULD or MAY does not hold, and --strict was not given
  kSkipped,
  kNotRun,
  kHarness,
};
std::string_view to_string(Grade grade);  // "pass", "fail", "expected-failure", …

struct GradedResult {
  CaseResult result;
  Level level = Level::kMust;
  bool required = true;  // counts for the score
  Grade grade = Grade::kPass;
  std::string reason;  // of the line for kExpectedFailure; what is wrong with it for kStaleLine
};

struct GradingRules {
  bool strict = false;  // SHOULD counts as MUST does
  std::string today;    // "2026-01-31"
};

GradedResult grade(CaseResult result, const Ledger& ledger, const Expectations& expectations,
                   const GradingRules& rules);

}  // namespace kvc::conformance
