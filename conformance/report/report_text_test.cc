// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/report/report_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/report/badge.h"
#include "conformance/report/sample_report.h"

namespace kvc::conformance {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ReportText, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(clean_utf8("a\xc3\xa9\xf0\x9f\x98\x80 z\n"), "a\xc3\xa9\xf0\x9f\x98\x80 z\n");
  EXPECT_EQ(clean_utf8("a\xff z"), "a\xef\xbf\xbd z");
  EXPECT_EQ(clean_utf8("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd");                  // overlong
  EXPECT_EQ(clean_utf8("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // a surrogate
  EXPECT_EQ(clean_utf8("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");                  // truncated
  EXPECT_EQ(clean_utf8(std::string_view("\0\x1b[31m", 6)), "\xef\xbf\xbd\xef\xbf\xbd[31m");
}

TEST(ReportText, EscapesWhatAPageWouldRead) {
  EXPECT_EQ(html_escaped("<b a=\"1\" c='2'>&"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
}

TEST(ReportText, ShortensBetweenCharacters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("a\xc3\xa9z", 2), "a…");
}

TEST(ReportText, SaysTheVerdictInASentence) {
  RunReport report = sample_report();
  EXPECT_THAT(verdict_sentence(report), HasSubstr("does not conform to release 0.4.5"));
  EXPECT_THAT(verdict_sentence(report), HasSubstr("1 of 3 required cases fails"));
  report.finished = false;
  EXPECT_THAT(verdict_sentence(report), HasSubstr("No verdict yet on the embedded kvserver"));
  EXPECT_THAT(verdict_sentence(report), HasSubstr("1 failure so far"));
  report.finished = true;
  report.problems.push_back("x");
  EXPECT_THAT(verdict_sentence(report), HasSubstr("the harness or its use is at fault"));
}

TEST(ReportText, CountsAnExpectedFailureAsSuch) {
  RunReport report = sample_report();
  report.results[1].grade = Grade::kExpectedFailure;
  EXPECT_THAT(verdict_sentence(report), HasSubstr("but for 1 failure as expected: 2 of 3"));
  report.results.erase(report.results.begin() + 1);
  EXPECT_THAT(verdict_sentence(report), HasSubstr("all 2 required cases"));
}

TEST(ReportText, ScoresAreasByTheWordBeforeTheDot) {
  const std::vector<AreaScore> scores = area_scores(sample_report());
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_EQ(scores[0].area, "Envelope");
  EXPECT_EQ(scores[0].required, 2);
  EXPECT_EQ(scores[0].required_passed, 1);
  EXPECT_EQ(scores[0].failed, 1);
  EXPECT_EQ(scores[1].area, "Store");
  EXPECT_EQ(scores[1].required, 1);
  EXPECT_EQ(scores[1].skipped, 1);
  EXPECT_EQ(scores[1].notes, 1);
}

TEST(Badge, HasTheColourOfTheVerdict) {
  RunReport report = sample_report();
  EXPECT_EQ(badge_json(report)["schemaVersion"], 1);
  EXPECT_EQ(badge_json(report)["message"], "2/3");
  EXPECT_EQ(badge_json(report)["color"], "red");
  EXPECT_EQ(badge_json(report)["isError"], true);
  report.results[1].grade = Grade::kExpectedFailure;
  EXPECT_EQ(badge_json(report)["color"], "yellowgreen");
  EXPECT_EQ(badge_json(report)["message"], "2/3, 1 known failures");
  report.results.erase(report.results.begin() + 1);
  EXPECT_EQ(badge_json(report)["color"], "brightgreen");
  report.finished = false;
  EXPECT_EQ(badge_json(report)["message"], "unfinished");
  EXPECT_EQ(badge_json(report)["color"], "lightgrey");
}

}  // namespace
}  // namespace kvc::conformance
