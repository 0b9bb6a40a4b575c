// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/spec/spec_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvc::conformance {
namespace {

using testing::HasSubstr;

class SpecWriterTest : public testing::Test {
 protected:
  SpecWriterTest() {
    cases_.add({"A.One", {"a.must"}, "One.", {}, [](Case&) {}});
    for (const Definition& row : registry_0_4_5().definitions()) {
      // Enough to be let through: each request has to be explained.
      all_ += "{{request " + std::string(to_string(row.type)) + "\n";
      for (std::size_t i = 0; i < row.payloads.size(); ++i) all_ += "p: a payload\n";
      all_ += "result: a result\n}}\n";
    }
  }

  std::string write(const std::string& text) {
    return SpecWriter(registry_0_4_5(), ledger_, cases_, golden_).write({{"page.md", text}});
  }
  std::string error(const std::string& text) {
    try {
      write(text);
    } catch (const SpecError& error) {
      return error.what();
    }
    return "no error";
  }

  Ledger ledger_ = Ledger::parse(R"yaml(
requirements:
  - {id: a.must, level: MUST, text: It must., source: S1, releases: [0.4.5], how_to_read: R.}
  - {id: b.new, level: SHOULD, text: It is new., source: S2, releases: [0.4.5], how_to_read: R.}
)yaml");
  CaseList cases_;
  GoldenData golden_{"0.4.5", ""};
  std::string all_;
};

TEST_F(SpecWriterTest, TellsARuleWithItsSourceAndCases) {
  const std::string text = write(all_ + "{{rules a.*}}\n{{rules *}}\n");
  EXPECT_THAT(text, HasSubstr("- **MUST** `a.must` It must.<br>Source: S1. Case: `A.One`.\n"));
  EXPECT_EQ(text.find("`a.must`"), text.rfind("`a.must`"));  // once
}

TEST_F(SpecWriterTest, TakesANewRuleUpWithoutAnEdit) {
  EXPECT_THAT(write(all_ + "{{rules a.*}}\n{{rules *}}\n"),
              HasSubstr("- **SHOULD** `b.new` It is new.<br>Source: S2. No case proves it yet."));
  EXPECT_THAT(error(all_ + "{{rules a.*}}\n"), HasSubstr("no page tells the rule b.new"));
}

TEST_F(SpecWriterTest, AnnotatesARequestAndItsReply) {
  const std::string text =
      write(all_ + "{{example GET_CHUNK_SIZE: tokens of a chunk}}\n{{rules *}}\n");
  EXPECT_THAT(text, HasSubstr("frame 1, type: GET_CHUNK_SIZE, 1 byte\n  0b  11\n"));
  EXPECT_THAT(text, HasSubstr("frame 2, result: int, 1 byte\n  20  32\n"));
}

TEST_F(SpecWriterTest, NumbersHeadingsAndLinks) {
  const std::string text =
      write("{{contents}}\n## First\n### Part\n## Second one\nsee [it](##second-one)\n" + all_ +
            "{{rules *}}\n");
  EXPECT_THAT(text, HasSubstr("- [1. First](#1-first)\n  - [1.1 Part](#11-part)\n"));
  EXPECT_THAT(text, HasSubstr("see [it](#2-second-one)"));
  EXPECT_THAT(error(all_ + "[x](##nowhere)\n{{rules *}}\n"), HasSubstr("##nowhere"));
}

TEST_F(SpecWriterTest, SaysWhereAPageAsksForWhatIsNotThere) {
  EXPECT_THAT(error("\n{{try No.Such}}\n"), HasSubstr("page.md:2: there is no case No.Such"));
  EXPECT_THAT(error("{{rules no.such}}\n"), HasSubstr("no rule no.such"));
  EXPECT_THAT(error("{{request NO_SUCH\n}}\n"), HasSubstr("no request type NO_SUCH"));
  EXPECT_THAT(error("{{request STORE\nkey: x\nresult: y\n}}\n"),
              HasSubstr("STORE has 4 payloads, and 1 are explained"));
  EXPECT_THAT(error(all_ + "{{example NOOP: dead}}\n"), HasSubstr("no message of NOOP"));
  EXPECT_THAT(error("{{nonsense x: y}}\n"), HasSubstr("there is no {{nonsense}}"));
  EXPECT_THAT(error("{{rules *}}\n"), HasSubstr("no page has {{request"));
}

}  // namespace
}  // namespace kvc::conformance
