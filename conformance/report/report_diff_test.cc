// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/report/report_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/harness/json_report.h"
#include "conformance/harness/run_options.h"
#include "conformance/report/diff_text.h"
#include "conformance/report/sample_report.h"

namespace kvc::conformance {
namespace {

using testing::HasSubstr;

const Ledger& ledger() {
  static const Ledger ledger =
      Ledger::parse(std::string(kSampleLedger) + "aliases: {Envelope.Old: Envelope.A}\n");
  return ledger;
}

LoadedReport loaded(const RunReport& report, const std::string& name = "r.json") {
  return parse_report(name, dumped(json_report(report, ledger())), ledger());
}

// All hold.
RunReport good() {
  RunReport report = sample_report();
  for (GradedResult& graded : report.results) {
    if (graded.grade == Grade::kSkipped) continue;
    graded.grade = Grade::kPass;
    graded.result.verdict = Verdict::kPass;
  }
  return report;
}

RunReport with(RunReport report, std::size_t index, Grade grade, Verdict verdict,
               const std::string& actual = "x") {
  report.results[index].grade = grade;
  report.results[index].result.verdict = verdict;
  report.results[index].result.finding = {verdict, "it holds", actual, ""};
  return report;
}
RunReport failing(std::size_t index, Verdict verdict = Verdict::kWrong) {
  return with(good(), index, Grade::kFail, verdict);
}

// The one change that a diff has.
Change only_change(const ReportDiff& diff) {
  EXPECT_EQ(diff.cases.size(), 1U);
  return diff.cases.at(0).change;
}

TEST(ReportDiff, IsEmptyBetweenEqualRuns) {
  const ReportDiff diff = diff_reports(loaded(failing(0)), loaded(failing(0)));
  EXPECT_TRUE(diff.cases.empty());
  EXPECT_EQ(diff.num_still_failing, 1);
  EXPECT_EQ(diff.exit_code(), 0);
}

TEST(ReportDiff, NamesWhatNewlyFails) {
  const ReportDiff diff = diff_reports(loaded(good()), loaded(failing(2)));
  EXPECT_EQ(only_change(diff), Change::kNewlyFailing);
  EXPECT_EQ(diff.cases[0].id, "Store.C");
  EXPECT_EQ(diff.exit_code(), 1);
  EXPECT_THAT(diff_text(loaded(good()), loaded(failing(2)), diff),
              HasSubstr("newly failing (1):\n  ! Store.C  PASS -> WRONG  # x"));
}

TEST(ReportDiff, NamesWhatIsFixed) {
  const ReportDiff diff = diff_reports(loaded(failing(2)), loaded(good()));
  EXPECT_EQ(only_change(diff), Change::kFixed);
  EXPECT_EQ(diff.exit_code(), 0);
}

TEST(ReportDiff, ExcusesWhatIsExpectedOrNotRequired) {
  RunReport now = with(good(), 0, Grade::kExpectedFailure, Verdict::kWrong);
  EXPECT_EQ(diff_reports(loaded(good()), loaded(now)).exit_code(), 0);
  EXPECT_EQ(diff_reports(loaded(good()), loaded(now)).sentence(),
            "no regression, 1 newly failing but excused");
  now = with(good(), 3, Grade::kNote, Verdict::kWrong);
  const ReportDiff diff = diff_reports(loaded(good()), loaded(now));
  EXPECT_EQ(only_change(diff), Change::kNewlyFailing);
  EXPECT_EQ(diff.cases[0].why, "no MUST: x");
  EXPECT_EQ(diff.exit_code(), 0);
}

TEST(ReportDiff, TakesADeathForWorseThanAWrongAnswer) {
  const ReportDiff worse = diff_reports(loaded(failing(0)), loaded(failing(0, Verdict::kDead)));
  EXPECT_EQ(only_change(worse), Change::kWorse);
  EXPECT_EQ(worse.exit_code(), 1);
  const ReportDiff otherwise =
      diff_reports(loaded(failing(0)), loaded(failing(0, Verdict::kSilent)));
  EXPECT_EQ(only_change(otherwise), Change::kFailsOtherwise);
  EXPECT_EQ(otherwise.exit_code(), 0);
}

TEST(ReportDiff, BlamesNoServerForANewCase) {
  RunReport before = good();
  before.results.erase(before.results.begin());
  const ReportDiff diff = diff_reports(loaded(before), loaded(failing(0)));
  EXPECT_EQ(only_change(diff), Change::kNewCaseFails);
  EXPECT_EQ(diff.num_new_cases, 1);
  EXPECT_EQ(diff.exit_code(), 0);
}

TEST(ReportDiff, BlamesNoServerForAChangedCase) {
  RunReport now = failing(0);
  now.results[0].result.spec.claim = "It claims more.";
  const ReportDiff diff = diff_reports(loaded(good()), loaded(now));
  EXPECT_EQ(only_change(diff), Change::kChangedCase);
  EXPECT_EQ(diff.exit_code(), 0);
}

TEST(ReportDiff, KnowsARenamedCase) {
  RunReport before = good();
  before.results[0].result.spec.id = "Envelope.Old";
  const ReportDiff diff = diff_reports(loaded(before), loaded(failing(0)));
  EXPECT_EQ(only_change(diff), Change::kNewlyFailing);
  EXPECT_EQ(diff.num_gone_cases, 0);
}

TEST(ReportDiff, CallsFlakyWhatChangesItsMindOnOneServer) {
  RunReport before = good();
  RunReport now = failing(0);
  before.server_version = now.server_version = "c0ffee";
  ReportDiff diff = diff_reports(loaded(before), loaded(now));
  EXPECT_EQ(only_change(diff), Change::kFlaky);
  EXPECT_EQ(diff.exit_code(), 0);
  now.server_version = "deca5e";
  diff = diff_reports(loaded(before), loaded(now));
  EXPECT_EQ(only_change(diff), Change::kNewlyFailing);
  EXPECT_THAT(diff.server, testing::ElementsAre("server version: c0ffee -> deca5e"));

  diff = diff_reports(loaded(before), loaded(now), {loaded(failing(0)), loaded(good())});
  EXPECT_EQ(only_change(diff), Change::kFlaky);
  EXPECT_EQ(diff.cases[0].why, "passes in 1 of 3 runs of the new server");
  diff = diff_reports(loaded(before), loaded(now), {loaded(failing(0))});
  EXPECT_EQ(only_change(diff), Change::kNewlyFailing);
}

TEST(ReportDiff, TakesALostCapabilityForARegression) {
  RunReport before = good();
  before.capabilities.set(Capability::kDevice);
  RunReport now = with(good(), 2, Grade::kSkipped, Verdict::kSkipped, "the server lacks device");
  const ReportDiff diff = diff_reports(loaded(before), loaded(now));
  EXPECT_EQ(only_change(diff), Change::kLost);
  EXPECT_EQ(diff.exit_code(), 1);
  EXPECT_THAT(diff.server, testing::ElementsAre("it lost device"));
  now = with(good(), 2, Grade::kSkipped, Verdict::kSkipped, "the server lacks security");
  EXPECT_EQ(diff_reports(loaded(good()), loaded(now)).exit_code(), 0);
  now = with(good(), 2, Grade::kSkipped, Verdict::kSkipped,
             "the run plays its engines on no GPU (--device cuda)");
  EXPECT_EQ(diff_reports(loaded(good()), loaded(now)).exit_code(), 0);
}

TEST(ReportDiff, ProvesNothingByARunThatDidNotEnd) {
  RunReport now = good();
  now.finished = false;
  EXPECT_EQ(diff_reports(loaded(good()), loaded(now)).exit_code(), 2);
  now = failing(0);
  now.finished = false;
  EXPECT_EQ(diff_reports(loaded(good()), loaded(now)).exit_code(), 1);
}

TEST(ReportDiff, TellsFailuresOutsideCases) {
  RunReport now = good();
  now.failures.push_back("the server was found dead");
  const ReportDiff diff = diff_reports(loaded(good()), loaded(now));
  EXPECT_EQ(diff.exit_code(), 1);
  EXPECT_THAT(diff_markdown(loaded(good()), loaded(now), diff), HasSubstr("was found dead"));
}

TEST(ReportDiff, RefusesWhatIsNoReport) {
  EXPECT_THROW(parse_report("x", "{", ledger()), UsageError);
  EXPECT_THROW(parse_report("x", "{}", ledger()), UsageError);
  EXPECT_THROW(parse_report("x", "[1]", ledger()), UsageError);
  EXPECT_THROW(load_report("/no/such/file", ledger()), UsageError);
  RunReport other = good();
  other.release = "0.4.6";
  EXPECT_THROW(diff_reports(loaded(good()), loaded(other)), UsageError);
}

}  // namespace
}  // namespace kvc::conformance
