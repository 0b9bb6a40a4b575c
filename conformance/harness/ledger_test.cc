// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvc::conformance {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string requirement(const std::string& id, const std::string& level = "MUST") {
  return "  - {id: " + id + ", level: " + level +
         ", text: T., source: S, releases: [0.4.5], how_to_read: R.}\n";
}

std::string error_of(const std::string& yaml) {
  try {
    Ledger::parse(yaml);
  } catch (const LedgerError& error) {
    return error.what();
  }
  return "";
}

CaseList cases_proving(const std::vector<std::vector<std::string>>& proves) {
  CaseList cases;
  for (std::size_t i = 0; i < proves.size(); ++i)
    cases.add({"A.Case" + std::to_string(i), proves[i], "C.", {}, [](Case&) {}});
  return cases;
}

TEST(Ledger, ReadsRequirements) {
  const Ledger ledger =
      Ledger::parse("requirements:\n" + requirement("a.one") + requirement("a.two", "SHOULD"));
  ASSERT_EQ(ledger.requirements().size(), 2U);
  EXPECT_EQ(ledger.find("a.two")->level, Level::kShould);
  EXPECT_EQ(ledger.find("a.one")->how_to_read, "R.");
  EXPECT_EQ(ledger.find("a.three"), nullptr);
}

TEST(Ledger, SaysWhereItIsWrong) {
  EXPECT_THAT(error_of("requirements:\n" + requirement("a.one", "WILL")),
              HasSubstr("requirements.yaml:2: level 'WILL'"));
  EXPECT_THAT(error_of("requirements:\n" + requirement("One")), HasSubstr("id 'One'"));
  EXPECT_THAT(error_of("requirements:\n  - {id: a.b, level: MUST}\n"), HasSubstr("no 'text'"));
  EXPECT_THAT(error_of("requirements:\n  - {id: a.b, lavel: MUST}\n"),
              HasSubstr("unknown field 'lavel'"));
  EXPECT_THAT(error_of("rules: []\n"), HasSubstr("unknown part 'rules'"));
  EXPECT_THAT(error_of("requirements: []\n"), HasSubstr("no 'requirements'"));
  EXPECT_THAT(error_of("requirements: [\n"), HasSubstr("requirements.yaml:"));
  EXPECT_THAT(error_of("[]"), HasSubstr("map"));
}

TEST(Ledger, TakesTheWeightiestLevelOfACase) {
  const Ledger ledger =
      Ledger::parse("requirements:\n" + requirement("a.must") + requirement("a.should", "SHOULD") +
                    requirement("a.may", "MAY"));
  const auto level = [&](const std::vector<std::string>& proves) {
    return std::string(to_string(ledger.level_of(cases_proving({proves}).cases()[0])));
  };
  EXPECT_EQ(level({"a.may", "a.should"}), "SHOULD");
  EXPECT_EQ(level({"a.should", "a.must"}), "MUST");
  EXPECT_EQ(level({"a.may"}), "MAY");
  EXPECT_EQ(level({"a.unknown"}), "MUST");
}

TEST(Ledger, HoldsCasesAndRulesTogether) {
  const std::string yaml =
      "requirements:\n" + requirement("a.one") + requirement("a.two") + requirement("a.may", "MAY");
  const auto problems = [&](const std::string& text, const CaseList& cases) {
    return Ledger::parse(text).problems(cases);
  };
  EXPECT_THAT(problems(yaml, cases_proving({{"a.one", "a.two"}})), IsEmpty());
  EXPECT_THAT(problems(yaml, cases_proving({{"a.one"}})),
              ElementsAre("the MUST a.two has no case"));
  EXPECT_THAT(problems(yaml, cases_proving({{"a.one", "a.two", "a.three"}})),
              ElementsAre("A.Case0 names the requirement a.three, which is not in the ledger"));
  EXPECT_THAT(problems(yaml, cases_proving({{"a.one", "a.two"}, {}})),
              ElementsAre("A.Case1 names no requirement"));
  const CaseList good = cases_proving({{"a.one", "a.two"}});
  EXPECT_THAT(problems(yaml + requirement("a.one"), good),
              ElementsAre("the id a.one is used twice"));
  EXPECT_THAT(problems(yaml + "retired: [a.one]\n", good),
              ElementsAre("the retired id a.one is used again"));
  EXPECT_THAT(problems(yaml + "aliases: {A.Old: A.Gone}\n", good),
              ElementsAre("the alias A.Old leads to A.Gone, which does not exist"));
  EXPECT_THAT(problems(yaml + "aliases: {a.one: a.two}\n", good),
              ElementsAre("the alias a.one is also a living id"));
}

TEST(Ledger, KnowsOldNames) {
  const Ledger ledger =
      Ledger::parse("requirements:\n" + requirement("a.one") + "aliases: {A.Old: A.Case0}\n");
  EXPECT_EQ(ledger.current_id("A.Old"), "A.Case0");
  EXPECT_EQ(ledger.current_id("A.Case0"), "A.Case0");
}

TEST(Ledger, IsBuiltIn) { EXPECT_THAT(Ledger::embedded().requirements(), Contains(testing::_)); }

}  // namespace
}  // namespace kvc::conformance
