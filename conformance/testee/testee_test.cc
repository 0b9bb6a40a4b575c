// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Runs against stub testees, each with one flaw: the verdict tells of it, and the run goes on.
#include "conformance/testee/testee.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "conformance/cases/testee/testee_cases.h"
#include "conformance/harness/run.h"

namespace kvc::conformance {
namespace {

using testing::HasSubstr;

constexpr const char* kLedger = R"yaml(
requirements:
  - {id: a.must, level: MUST, text: It must., source: S, releases: [0.4.5], how_to_read: R.}
)yaml";

Placed frame(std::uint8_t first) { return {"NOOP", "result", Json::binary({first})}; }

void decode_ten(Case& test) {
  std::vector<Placed> frames(10, frame(0xc0));
  frames[6] = frame(0xfe);
  test.testee().ask_all("decode", frames, [](std::size_t i) { return std::to_string(i); });
}

CaseList suite() {
  CaseList cases;
  const auto add = [&](const char* id, const std::function<void(Case&)>& body) {
    cases.add(pipe_case(id, {"a.must"}, "A claim.", body));
  };
  add("A.First", [](Case& test) { test.testee().ask("decode"); });
  add("A.Nonsense", [](Case& test) {
    const TesteeReply reply = test.testee().ask("nonsense");
    test.expect(reply.kind == TesteeReply::Kind::kUnimplemented, "unimplemented", reply.text());
  });
  add("A.Batch", decode_ten);
  add("A.Last", [](Case& test) { test.testee().ask("decode"); });
  return cases;
}

class TesteeRunTest : public testing::Test {
 protected:
  TesteeRunTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("kvc-testee-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~TesteeRunTest() override { std::filesystem::remove_all(folder_); }

  // The verdicts in order, "PASS WRONG …".
  std::string run(const std::string& flaw, int timeout_ms = 20000) {
    RunOptions options;
    options.testee = std::string("exec ") + KVC_STUB_TESTEE + " " + flaw;
    options.device = "none";
    options.repro_folder = (folder_ / "repro").string();
    options.timeout = std::chrono::milliseconds(timeout_ms);
    const CaseList cases = suite();
    const Ledger ledger = Ledger::parse(kLedger);
    out_.str("");
    conformance::Run judged(options, cases, ledger, out_, TerminalStyle{});
    std::string verdicts;
    for (const CaseSpec& spec : cases.cases()) {
      const GradedResult& graded = judged.run_one(spec, cases.cases().size());
      verdicts +=
          graded.result.not_run ? "- " : std::string(to_string(graded.result.verdict)) + " ";
    }
    code_ = judged.finish();
    return verdicts;
  }

  std::filesystem::path folder_;
  std::ostringstream out_;
  int code_ = -1;
};

TEST_F(TesteeRunTest, PassesARightOne) {
  EXPECT_EQ(run("none"), "PASS PASS PASS PASS ");
  EXPECT_EQ(code_, 0) << out_.str();
  EXPECT_THAT(out_.str(), HasSubstr("it implements: hello, decode, decode_batch"));
  EXPECT_THAT(out_.str(), HasSubstr("stub 1"));
}

TEST_F(TesteeRunTest, GoesOnAfterAHang) {
  EXPECT_EQ(run("hangs nonsense", 2000), "PASS SILENT PASS PASS ");
  EXPECT_EQ(code_, 1);
  EXPECT_THAT(out_.str(), HasSubstr("gave no reply within the time"));
}

TEST_F(TesteeRunTest, GoesOnAfterADeath) {
  EXPECT_EQ(run("exits nonsense"), "PASS DEAD PASS PASS ");
  EXPECT_THAT(out_.str(), HasSubstr("exited with status 3"));
  EXPECT_EQ(run("crashes nonsense"), "PASS DEAD PASS PASS ");
  EXPECT_THAT(out_.str(), HasSubstr("signal 11"));
  EXPECT_EQ(run("closes nonsense"), "PASS DEAD PASS PASS ");
  EXPECT_THAT(out_.str(), HasSubstr("closed its stdout"));
  EXPECT_THAT(out_.str(), HasSubstr("kvconform testee"));  // how to run it again
}

TEST_F(TesteeRunTest, FindsTheFrameOfABatchThatIsTooMuch) {
  EXPECT_EQ(run("exits poison"), "PASS PASS DEAD PASS ");
  EXPECT_THAT(out_.str(), HasSubstr("a reply to decode of 6"));
  EXPECT_EQ(run("exits decode_batch"), "PASS PASS DEAD PASS ");
  EXPECT_THAT(out_.str(), HasSubstr("answers one by one"));
}

TEST_F(TesteeRunTest, TakesNoGarbageForAReply) {
  EXPECT_EQ(run("garbage nonsense"), "PASS WRONG PASS PASS ");
  EXPECT_THAT(out_.str(), HasSubstr("bytes that are none: c1"));
  EXPECT_EQ(run("babbles nonsense"), "PASS WRONG PASS PASS ");
}

TEST_F(TesteeRunTest, CatchesOneThatSaysOkToEverything) {
  EXPECT_EQ(run("lies"), "PASS WRONG WRONG PASS ");
}

TEST_F(TesteeRunTest, JudgesNothingThatDoesNotStart) {
  EXPECT_EQ(run("exits hello"), "- - - - ");
  EXPECT_EQ(code_, 2);
  EXPECT_THAT(out_.str(), HasSubstr("does not answer hello"));
}

TEST(TesteeReplies, AreMapsOfOneEntry) {
  const auto is_reply = [](const Json& json) {
    return std::holds_alternative<TesteeReply>(reply_of(json));
  };
  EXPECT_TRUE(is_reply({{"ok", nullptr}}));
  EXPECT_TRUE(is_reply({{"unimplemented", "x"}}));
  EXPECT_TRUE(is_reply({{"error", {{"kind", "k"}, {"path", "$"}, {"message", "m"}}}}));
  EXPECT_TRUE(is_reply({{"error", Json::object()}}));
  EXPECT_FALSE(is_reply(Json::object()));
  EXPECT_FALSE(is_reply({{"ok", 1}, {"error", Json::object()}}));
  EXPECT_FALSE(is_reply({{"error", "text"}}));
  EXPECT_FALSE(is_reply({{"error", {{"path", 3}}}}));
  EXPECT_FALSE(is_reply({{"unimplemented", nullptr}}));
  EXPECT_FALSE(is_reply(nullptr));
}

}  // namespace
}  // namespace kvc::conformance
