// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "conformance/report/markdown_report.h"
#include "conformance/report/report_writer.h"
#include "conformance/report/sample_report.h"

namespace kvc::conformance {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const Ledger& ledger() {
  static const Ledger ledger = Ledger::parse(kSampleLedger);
  return ledger;
}

std::string page_of(const RunReport& report) {
  return HtmlReport(ledger(), registry_0_4_5()).page(report);
}

TEST(HtmlReport, TellsAllAboutAFailure) {
  const std::string page = page_of(sample_report());
  for (const char* part :
       {"<h1>The embedded kvserver does not conform", "Score <b>2/3</b>",
        "<h4>Expected</h4><pre>&quot;OK&quot; &amp; no more</pre>", "<h4>Actual</h4>",
        "NOOP uid=1 ()", "NOOP uid=1 -&gt; &quot;NO&quot;", "01|0e|a24e4f", "It must.",
        "Source: measured: x", "Read it so.", "kvconform run --filter Envelope.B --seed 7",
        "<b>Where:</b> step 1", "the server lacks blend-v2"})
    EXPECT_THAT(page, HasSubstr(part));
}

TEST(HtmlReport, KeepsWhatAServerSentFromBeingMarkup) {
  const std::string page = page_of(sample_report());
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt; \xef\xbf\xbd"));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
}

TEST(HtmlReport, AsksNothingOfTheNetwork) {
  const std::string page = page_of(sample_report());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* part : {"http:", "https:", "src=\"", "@import", "url("})
    EXPECT_THAT(page, Not(HasSubstr(part)));
}

TEST(HtmlReport, GrowsAsTheRunDoes) {
  RunReport report = sample_report();
  const std::string whole = page_of(report);
  RunReport growing = report;
  growing.results.clear();
  HtmlReport html(ledger(), registry_0_4_5());
  growing.finished = false;
  EXPECT_THAT(html.page(growing), HasSubstr("No verdict yet"));
  for (const GradedResult& graded : report.results) {
    growing.results.push_back(graded);
    const std::string page = html.page(growing);
    EXPECT_THAT(page, HasSubstr("id=\"case-" + graded.result.spec.id + "\""));
    EXPECT_THAT(page, testing::EndsWith("</html>\n"));
  }
  growing.finished = true;
  EXPECT_EQ(html.page(growing), whole);
}

TEST(MarkdownReport, IsAComment) {
  const std::string text = markdown_report(sample_report(), ledger(), registry_0_4_5());
  EXPECT_THAT(text, StartsWith("<!-- kvconform -->\n### ❌ kvconform: does not conform\n"));
  EXPECT_THAT(text, HasSubstr("| Envelope | 1/2 | 1 |"));
  EXPECT_THAT(text, HasSubstr("<summary><b>WRONG</b> Envelope.B: It claims.</summary>"));
  EXPECT_THAT(text, HasSubstr("````text\nWRONG Envelope.B"));  // longer than the one within
  EXPECT_THAT(text, HasSubstr("rules that are no MUST and do not hold (1)"));
}

TEST(MarkdownReport, FitsIntoAComment) {
  RunReport report = sample_report();
  report.results[1].result.finding.actual = std::string(5000, 'x');
  const GradedResult failure = report.results[1];
  for (int i = 0; i < 300; ++i) report.results.push_back(failure);
  const std::string text = markdown_report(report, ledger(), registry_0_4_5());
  EXPECT_LE(text.size(), kMarkdownBytesMax + 3);
  EXPECT_THAT(text, HasSubstr("more failures did not fit"));
}

TEST(MarkdownReport, LeavesNothingToMarkdown) {
  EXPECT_EQ(markdown_escaped("@a *b* <c>\n|"), "&#64;a &#42;b&#42; &#60;c&#62; &#124;");
}

class ReportWriterTest : public testing::Test {
 protected:
  ReportWriterTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("kvc-writer-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~ReportWriterTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
};

TEST_F(ReportWriterTest, WritesAllThatIsAskedFor) {
  ReportWriter writer({path("r.json"), path("r.html"), "", path("r.badge")}, ledger(),
                      registry_0_4_5());
  EXPECT_THAT(writer.write(sample_report()), testing::IsEmpty());
  EXPECT_EQ(nlohmann::json::parse(read("r.json"))["cases"].size(), 5U);
  EXPECT_EQ(nlohmann::json::parse(read("r.badge"))["message"], "2/3");
  EXPECT_THAT(read("r.html"), HasSubstr("</html>"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    EXPECT_NE(entry.path().extension(), ".part");
}

TEST_F(ReportWriterTest, SaysOnceWhatItCannotWrite) {
  ReportWriter writer({"", path("no/such/folder/r.html"), "", path("r.badge")}, ledger(),
                      registry_0_4_5());
  const std::vector<std::string> problems = writer.write(sample_report());
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0], HasSubstr("no/such/folder"));
  EXPECT_THAT(writer.write(sample_report()), testing::IsEmpty());
  EXPECT_THAT(read("r.badge"), HasSubstr("2/3"));
}

TEST_F(ReportWriterTest, TakesABoundedShareOfTheRun) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  EXPECT_EQ(ReportWriter::pause_after(milliseconds(1)), seconds(2));
  EXPECT_EQ(ReportWriter::pause_after(milliseconds(100)), seconds(5));
  ReportWriter writer({path("r.json"), "", "", ""}, ledger(), registry_0_4_5());
  writer.write(sample_report());
  std::filesystem::remove(path("r.json"));
  writer.write_if_due(sample_report());
  EXPECT_FALSE(std::filesystem::exists(path("r.json")));
}

}  // namespace
}  // namespace kvc::conformance
