// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/report.h"

#include <fmt/format.h>

#include "conformance/harness/release.h"
#include "conformance/harness/server_under_test.h"

namespace kvc::conformance {

Tally tally(const RunReport& report) {
  Tally out;
  for (const GradedResult& graded : report.results) {
    ++out.by_grade.at(static_cast<std::size_t>(graded.grade));
    if (!graded.result.not_run)
      ++out.by_verdict.at(static_cast<std::size_t>(graded.result.verdict));
    const bool applies = graded.result.not_run || graded.result.verdict != Verdict::kSkipped;
    if (!graded.required || !applies) continue;
    ++out.required;
    if (!graded.result.not_run && graded.result.verdict == Verdict::kPass) ++out.required_passed;
  }
  return out;
}

int exit_code(const RunReport& report) {
  const Tally count = tally(report);
  if (!report.problems.empty() || count.of(Grade::kHarness) > 0) return 2;
  if (!report.failures.empty() || count.of(Grade::kFail) > 0 || count.of(Grade::kStaleLine) > 0)
    return 1;
  if (report.ended_early) return 2;
  return count.of(Grade::kNotRun) > 0 ? 1 : 0;
}

std::string rerun_command(const RunReport& report, const std::string& id) {
  std::string out = "kvconform " + report.command;
  if (!report.release.empty() && report.release != kCasesRelease)
    out += " --release " + report.release;
  if (!report.rerun_options.empty()) out += " " + report.rerun_options;
  return fmt::format("{} --filter {} --seed {}", out, shell_quoted(id), report.seed);
}

}  // namespace kvc::conformance
