// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/expectations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/harness/grade.h"

namespace kvc::conformance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kLedger = R"yaml(
requirements:
  - {id: a.must, level: MUST, text: T., source: S, releases: [0.4.5], how_to_read: R.}
  - {id: a.should, level: SHOULD, text: T., source: S, releases: [0.4.5], how_to_read: R.}
aliases:
  Old.Name: A.One
)yaml";

CaseList two_cases() {
  CaseList cases;
  cases.add({"A.One", {"a.must"}, "One.", {}, [](Case&) {}});
  cases.add({"A.Two", {"a.should"}, "Two.", {}, [](Case&) {}});
  return cases;
}

std::string error_of(const std::string& text) {
  try {
    Expectations::parse(text, "list.txt");
  } catch (const ExpectationsError& error) {
    return error.what();
  }
  return "";
}

TEST(Expectations, ReadsIdVerdictDateAndReason) {
  const Expectations list = Expectations::parse(
      "# head\n\nA.One DEAD  # it dies\nA.Two   SILENT until=2030-01-31 # later # really\n", "f");
  ASSERT_EQ(list.all().size(), 2U);
  EXPECT_EQ(list.all()[0].verdict, Verdict::kDead);
  EXPECT_EQ(list.all()[0].reason, "it dies");
  EXPECT_EQ(list.all()[0].line, 3);
  EXPECT_EQ(list.find("A.Two")->until, "2030-01-31");
  EXPECT_EQ(list.find("A.Two")->reason, "later # really");
  EXPECT_EQ(list.find("A.Three"), nullptr);
}

TEST(Expectations, RefusesLinesThatSayNothing) {
  EXPECT_EQ(error_of("A.One\n"), "list.txt:1: no verdict after A.One");
  EXPECT_THAT(error_of("\nA.One PASS # x\n"), HasSubstr("list.txt:2: 'PASS' is none of"));
  EXPECT_THAT(error_of("A.One HARNESS # x\n"), HasSubstr("none of"));
  EXPECT_THAT(error_of("A.One SKIPPED # x\n"), HasSubstr("none of"));
  EXPECT_THAT(error_of("A.One DEAD soon # x\n"), HasSubstr("'soon' is not understood"));
  EXPECT_THAT(error_of("A.One DEAD until=2030-13-01 # x\n"), HasSubstr("no date"));
  EXPECT_THROW(Expectations::load("/nowhere/at/all"), ExpectationsError);
}

TEST(Expectations, SaysWhatIsWrongWithTheFile) {
  const Ledger ledger = Ledger::parse(kLedger);
  const auto problems = [&](const std::string& text) {
    return Expectations::parse(text, "f").problems(two_cases(), ledger);
  };
  EXPECT_THAT(problems("A.One DEAD # why\n"), IsEmpty());
  EXPECT_THAT(problems("A.One DEAD\n"), ElementsAre("f:1: A.One has no reason"));
  EXPECT_THAT(problems("A.One DEAD # TODO: reason\n"), ElementsAre("f:1: A.One has no reason"));
  EXPECT_THAT(problems("B.X DEAD # why\n"), ElementsAre("f:1: there is no case B.X"));
  EXPECT_THAT(problems("Old.Name DEAD # why\n"), ElementsAre("f:1: Old.Name is now called A.One"));
  EXPECT_THAT(problems("A.One DEAD # a\nA.One WRONG # b\n"),
              ElementsAre("f:2: A.One is listed twice"));
}

struct GradeOf {
  explicit GradeOf(const std::string& list, bool strict = false)
      : expectations(Expectations::parse(list, "f")), rules{strict, "2026-06-15"} {}

  std::string operator()(std::size_t index, Verdict verdict, bool not_run = false) {
    CaseResult result;
    result.spec = two_cases().cases()[index];
    result.verdict = verdict;
    result.not_run = not_run;
    last = grade(result, Ledger::parse(kLedger), expectations, rules);
    return std::string(to_string(last.grade));
  }

  Expectations expectations;
  GradingRules rules;
  GradedResult last;
};

TEST(Grade, WeighsUnlistedCasesByTheirLevel) {
  GradeOf grade_of("");
  EXPECT_EQ(grade_of(0, Verdict::kPass), "pass");
  EXPECT_EQ(grade_of(0, Verdict::kWrong), "fail");
  EXPECT_EQ(grade_of(0, Verdict::kSilent), "fail");
  EXPECT_EQ(grade_of(0, Verdict::kDead), "fail");
  EXPECT_EQ(grade_of(0, Verdict::kSkipped), "skipped");
  EXPECT_EQ(grade_of(0, Verdict::kHarness), "harness");
  EXPECT_EQ(grade_of(0, Verdict::kPass, true), "not-run");
  EXPECT_EQ(grade_of(1, Verdict::kWrong), "note");
  EXPECT_EQ(GradeOf("", true)(1, Verdict::kWrong), "fail");
}

TEST(Grade, ExcusesExactlyWhatALineSays) {
  GradeOf grade_of("A.One DEAD # why\n");
  EXPECT_EQ(grade_of(0, Verdict::kDead), "expected-failure");
  EXPECT_EQ(grade_of.last.reason, "why");
  EXPECT_TRUE(grade_of.last.required);
  EXPECT_EQ(grade_of(0, Verdict::kWrong), "stale-line");
  EXPECT_EQ(grade_of(0, Verdict::kPass), "stale-line");
  EXPECT_EQ(grade_of(0, Verdict::kSkipped), "stale-line");
  EXPECT_EQ(grade_of(0, Verdict::kHarness), "harness");
  EXPECT_EQ(grade_of(0, Verdict::kDead, true), "not-run");
}

TEST(Grade, LeavesLinesAloneThatTheRunLeavesOut) {
  const Expectations expectations = Expectations::parse("A.One DEAD # why\n", "f");
  CaseResult result;
  result.spec = two_cases().cases()[0];
  result.verdict = Verdict::kSkipped;
  const auto graded = [&](Capability needed) {
    result.spec.needs = {needed};
    return grade(result, Ledger::parse(kLedger), expectations, {}).grade;
  };
  EXPECT_EQ(graded(Capability::kSecurity), Grade::kSkipped);
  EXPECT_EQ(graded(Capability::kSmallCache), Grade::kSkipped);
  EXPECT_EQ(graded(Capability::kCudaDevice), Grade::kSkipped);
  EXPECT_EQ(graded(Capability::kDevice), Grade::kStaleLine);
}

TEST(Grade, ExcusesNothingAfterItsDate) {
  EXPECT_EQ(GradeOf("A.One DEAD until=2026-06-14 # why\n")(0, Verdict::kDead), "stale-line");
  EXPECT_EQ(GradeOf("A.One DEAD until=2026-06-15 # why\n")(0, Verdict::kDead), "expected-failure");
}

TEST(Expectations, AreRewrittenToWhatCame) {
  const std::string text =
      "# head\nA.One DEAD  # kept\nA.Two WRONG  # fixed by now\nA.Three SILENT  # not judged\n"
      "A.Four WRONG until=2030-01-01  # other\n";
  const std::string now = rewritten(
      text, Expectations::parse(text, "f"),
      {{"A.One", Verdict::kDead}, {"A.Four", Verdict::kDead}, {"A.Five", Verdict::kWrong}},
      {"A.One", "A.Two", "A.Four", "A.Five"});
  EXPECT_EQ(now,
            "# head\nA.One DEAD  # kept\nA.Three SILENT  # not judged\n"
            "A.Four DEAD until=2030-01-01  # TODO: reason (was WRONG: other)\n"
            "A.Five WRONG  # TODO: reason\n");
  // A TODO is no reason, so somebody has to look.
  const Expectations again = Expectations::parse(now, "f");
  EXPECT_FALSE(again.find("A.Five")->has_reason());
  EXPECT_FALSE(again.find("A.Four")->has_reason());
  EXPECT_TRUE(again.find("A.One")->has_reason());
}

TEST(Expectations, KnowTheDate) { EXPECT_THAT(today(), testing::MatchesRegex("20..-..-..")); }

TEST(Expectations, MayNameTheirRelease) {
  const Expectations named = Expectations::parse("release 0.4.2\nA.B WRONG # why\n", "f");
  EXPECT_EQ(named.release(), "0.4.2");
  EXPECT_EQ(named.all().size(), 1u);
  EXPECT_EQ(Expectations::parse("A.B WRONG # why\n", "f").release(), "");
  EXPECT_EQ(rewritten("release 0.4.2\n", named, {}, {}), "release 0.4.2\n");
}

}  // namespace
}  // namespace kvc::conformance
