// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/release.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/harness/report.h"
#include "conformance/harness/verdict.h"

namespace kvc::conformance {
namespace {

using testing::HasSubstr;

CaseSpec proving(const std::vector<std::string>& rules) {
  return {"A.Case", rules, "C.", {}, [](Case&) {}};
}

Ledger two_rules() {
  return Ledger::parse(
      "requirements:\n"
      "  - {id: a.both, level: MUST, text: T., source: S, releases: [0.4.2, 0.4.5], "
      "how_to_read: R.}\n"
      "  - {id: a.new, level: MUST, text: T., source: S, releases: [0.4.5], how_to_read: R.}\n");
}

TEST(Release, NamesTheTypesThatDiffer) {
  const Registry& old = registry_0_4_2();
  EXPECT_EQ(difference_of_type(old, RequestType::kNoop), std::nullopt);
  EXPECT_EQ(difference_of_type(old, RequestType::kCbLookupPreComputed), std::nullopt);
  EXPECT_THAT(*difference_of_type(old, RequestType::kReportBlockAllocation),
              HasSubstr("0.4.2 has no REPORT_BLOCK_ALLOCATION"));
  EXPECT_THAT(*difference_of_type(old, RequestType::kRegisterKvCache),
              HasSubstr("other payloads"));  // four of them
  EXPECT_THAT(*difference_of_type(old, RequestType::kLookup), HasSubstr("another result"));
}

TEST(Release, SkipsACaseThatNeedsAnotherType) {
  require_type(registry_0_4_2(), RequestType::kPing);
  try {
    require_type(registry_0_4_2(), RequestType::kStore);  // the same in both
    require_type(registry_0_4_2(), RequestType::kQueryPrefetchStatus);
    FAIL() << "a number is asked for there, and not a request id";
  } catch (const Finding& found) {
    EXPECT_EQ(found.verdict, Verdict::kSkipped);
    EXPECT_THAT(found.actual, HasSubstr("QUERY_PREFETCH_STATUS"));
  }
}

TEST(Release, OfTheCasesHasThemAll) {
  for (const Definition& row : registry_0_4_5().definitions())
    EXPECT_EQ(difference_of_type(registry_0_4_5(), row.type), std::nullopt);
}

TEST(Release, IsThatOfEveryRuleOfTheCase) {
  const Ledger ledger = two_rules();
  EXPECT_EQ(difference_of_rules(ledger, proving({"a.both"}), "0.4.2"), std::nullopt);
  EXPECT_NE(difference_of_rules(ledger, proving({"a.both", "a.new"}), "0.4.2"), std::nullopt);
  EXPECT_EQ(difference_of_rules(ledger, proving({"a.both", "a.new"}), "0.4.5"), std::nullopt);
}

TEST(Release, IsInTheCommandThatRunsACaseAgain) {
  RunReport report;
  report.command = "run";
  report.rerun_options = "--start 'server {port}'";
  report.seed = 7;
  report.release = kCasesRelease;
  EXPECT_EQ(rerun_command(report, "A.Case"),
            "kvconform run --start 'server {port}' --filter A.Case --seed 7");
  report.release = "0.4.2";
  EXPECT_EQ(rerun_command(report, "A.Case"),
            "kvconform run --release 0.4.2 --start 'server {port}' --filter A.Case --seed 7");
}

}  // namespace
}  // namespace kvc::conformance
