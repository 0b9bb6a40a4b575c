// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/grade.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvc::conformance {
namespace {

// Skipped for how the run was called (no --security, no known cache size, no GPU), not for what the
// server lacks: then a line about the case is neither right nor wrong.
bool left_out_by_the_run(const CaseResult& result) {
  const auto settings = {Capability::kSecurity, Capability::kSmallCache, Capability::kCudaDevice};
  return result.verdict == Verdict::kSkipped &&
         std::find_first_of(result.spec.needs.begin(), result.spec.needs.end(), settings.begin(),
                            settings.end()) != result.spec.needs.end();
}

}  // namespace

std::string_view to_string(Grade grade) {
  switch (grade) {
    case Grade::kPass:
      return "pass";
    case Grade::kFail:
      return "fail";
    case Grade::kExpectedFailure:
      return "expected-failure";
    case Grade::kStaleLine:
      return "stale-line";
    case Grade::kNote:
      return "note";
    case Grade::kSkipped:
      return "skipped";
    case Grade::kNotRun:
      return "not-run";
    case Grade::kHarness:
      return "harness";
  }
  return "?";
}

GradedResult grade(CaseResult result, const Ledger& ledger, const Expectations& expectations,
                   const GradingRules& rules) {
  GradedResult out;
  out.level = ledger.level_of(result.spec);
  out.required = out.level == Level::kMust || (rules.strict && out.level == Level::kShould);
  out.result = std::move(result);
  const Verdict verdict = out.result.verdict;
  const Expectation* line = expectations.find(out.result.spec.id);

  if (out.result.not_run) {
    out.grade = Grade::kNotRun;
  } else if (verdict == Verdict::kHarness) {
    out.grade = Grade::kHarness;
  } else if (line != nullptr && verdict == line->verdict) {
    out.grade = Grade::kExpectedFailure;
    out.reason = line->reason;
    if (line->expired(rules.today)) {
      out.grade = Grade::kStaleLine;
      out.reason = fmt::format("line {} of {} excused it until {} only", line->line,
                               expectations.file_name(), line->until);
    }
  } else if (line != nullptr && !left_out_by_the_run(out.result)) {
    out.grade = Grade::kStaleLine;
    out.reason = fmt::format("line {} of {} expects {}", line->line, expectations.file_name(),
                             to_string(line->verdict));
  } else if (verdict == Verdict::kPass) {
    out.grade = Grade::kPass;
  } else if (verdict == Verdict::kSkipped) {
    out.grade = Grade::kSkipped;
  } else {
    out.grade = out.required ? Grade::kFail : Grade::kNote;
  }
  return out;
}

}  // namespace kvc::conformance
