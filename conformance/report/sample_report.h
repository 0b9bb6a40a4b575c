// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// A small finished run for the tests of the reports: two cases hold, one fails with frames that a
// hostile server sent, a SHOULD does not hold, one is skipped.
#pragma once

#include "conformance/harness/report.h"

namespace kvc::conformance {

inline GradedResult sample_result(const std::string& id, Grade grade, Verdict verdict,
                                  const Finding& finding = {}) {
  GradedResult out;
  out.result.spec.id = id;
  out.result.spec.proves = {grade == Grade::kNote ? "a.should" : "a.must"};
  out.result.spec.claim = "It claims.";
  out.result.verdict = verdict;
  out.result.finding = finding;
  out.level = grade == Grade::kNote ? Level::kShould : Level::kMust;
  out.required = out.level == Level::kMust;
  out.grade = grade;
  return out;
}

inline RunReport sample_report() {
  RunReport report;
  report.release = "0.4.5";
  report.server = "the embedded kvserver";
  report.started_at = "2026-01-31T12:00:00Z";
  report.seed = 7;
  report.repro_folder = "repro";
  report.finished = true;
  report.results.push_back(sample_result("Envelope.A", Grade::kPass, Verdict::kPass));
  report.results.push_back(sample_result(
      "Envelope.B", Grade::kFail, Verdict::kWrong,
      {Verdict::kWrong, "\"OK\" & no more", "<script>alert(1)</script> \xff ``` @all", "step 1"}));
  report.results.back().result.trace = {{0.5, 1, true, {{0x01}, {0x0e}}},
                                        {1.5, 1, false, {{0x01}, {0x0e}, {0xa2, 0x4e, 0x4f}}}};
  report.results.push_back(sample_result("Store.C", Grade::kPass, Verdict::kPass));
  report.results.push_back(sample_result("Store.D", Grade::kNote, Verdict::kSilent,
                                         {Verdict::kSilent, "a reply", "none", ""}));
  report.results.push_back(
      sample_result("Store.E", Grade::kSkipped, Verdict::kSkipped,
                    {Verdict::kSkipped, "x", "the server lacks blend-v2", ""}));
  report.num_planned = report.results.size();
  return report;
}

inline constexpr const char* kSampleLedger = R"yaml(
requirements:
  - {id: a.must, level: MUST, text: It must., source: "measured: x", releases: [0.4.5],
     how_to_read: Read it so.}
  - {id: a.should, level: SHOULD, text: It should., source: S, releases: [0.4.5], how_to_read: R.}
)yaml";

}  // namespace kvc::conformance
