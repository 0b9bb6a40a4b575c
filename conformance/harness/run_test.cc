// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "conformance/harness/child_process.h"
#include "conformance/harness/failure_text.h"
#include "conformance/harness/server_under_test.h"
#include "conformance/harness/stub_server.h"

namespace kvc::conformance {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

constexpr const char* kLedger = R"yaml(
requirements:
  - {id: a.must, level: MUST, text: It must., source: "measured: x", releases: [0.4.5],
     how_to_read: Read it so.}
  - {id: a.should, level: SHOULD, text: It should., source: S, releases: [0.4.5], how_to_read: R.}
)yaml";

CaseList suite() {
  CaseList cases;
  cases.add({"A.Noop", {"a.must"}, "NOOP answers OK.", {}, [](Case& test) {
               test.expect_equal(test.client().call<std::string>(RequestType::kNoop),
                                 std::string("OK"), "NOOP");
             }});
  cases.add({"A.Poison", {"a.must"}, "Unknown types are dropped.", {}, [](Case& test) {
               Client client = test.client();
               client.send_frames({{0x01}, {0x63}});
               client.expect_nothing("an unknown type");
             }});
  cases.add({"A.Should", {"a.should"}, "Never.", {}, [](Case& test) { test.wrong("x", "y"); }});
  cases.add({"A.Blend", {"a.must"}, "Blend.", {Capability::kBlendV2}, [](Case&) {}});
  return cases;
}

// A folder of the test's own, gone with it.
class RunTest : public testing::Test {
 protected:
  RunTest()
      : folder_(std::filesystem::path(testing::TempDir()) / ("kvc-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    options_.device = "none";
    options_.seed = 7;
    options_.timeout = std::chrono::seconds(20);
    options_.probe_timeout = std::chrono::seconds(20);
    options_.repro_folder = (folder_ / "repro").string();
    options_.json = (folder_ / "run.json").string();
  }
  ~RunTest() override { std::filesystem::remove_all(folder_); }

  int run(StubServer::Flaws flaws) {
    if (flaws.dies_of_poison) options_.probe_timeout = std::chrono::seconds(1);
    StubServer stub(flaws);
    options_.target = stub.endpoint();
    return run_here();
  }
  int run_here() {
    out_.str("");
    conformance::Run run(options_, cases_, ledger_, out_, TerminalStyle{});
    for (const CaseSpec& spec : cases_.cases()) run.run_one(spec, cases_.cases().size());
    const int code = run.finish();
    std::ifstream file(options_.json);
    json_ = Json::parse(file, nullptr, false);
    return code;
  }
  void expect(const std::string& lines) {
    options_.expect = (folder_ / "expect.txt").string();
    std::ofstream(options_.expect) << lines;
  }
  std::string expect_file() const {
    std::ifstream file(options_.expect);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
  RunOptions options_;
  CaseList cases_ = suite();
  Ledger ledger_ = Ledger::parse(kLedger);
  std::ostringstream out_;
  Json json_;
};

StubServer::Flaws mortal() {
  StubServer::Flaws flaws;
  flaws.dies_of_poison = true;
  return flaws;
}

TEST_F(RunTest, EndsWith0OnARightServer) {
  EXPECT_EQ(run({}), 0) << out_.str();
  EXPECT_THAT(out_.str(), HasSubstr("score 2/2 required cases"));
  EXPECT_THAT(out_.str(), HasSubstr("2 PASS"));
  EXPECT_THAT(out_.str(), HasSubstr("conforms"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("\x1b")));  // no terminal, no colour, no progress
  EXPECT_EQ(json_["summary"]["exit_code"], 0);
  EXPECT_EQ(json_["schema_version"], 1);
  EXPECT_EQ(json_["cases"].size(), 4U);
  EXPECT_EQ(json_["cases"][0]["verdict"], "PASS");
  EXPECT_EQ(json_["cases"][2]["grade"], "note");
  EXPECT_EQ(json_["cases"][3]["verdict"], "SKIPPED");
  EXPECT_EQ(json_["capabilities"]["request_types"]["NOOP"], "answers");
  EXPECT_EQ(json_["finished"], true);
}

TEST_F(RunTest, CountsShouldWithStrict) {
  options_.strict = true;
  EXPECT_EQ(run({}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("score 2/3"));
}

TEST_F(RunTest, TellsAllAboutAFailure) {
  StubServer::Flaws flaws;
  flaws.answers_wrong = true;
  EXPECT_EQ(run(flaws), 1);
  for (const char* part : {"WRONG A.Noop", "claim      NOOP answers OK.",
                           "expected   NOOP = \"OK\"", "actual     NOOP = \"NO\"", "NOOP uid=0 ()",
                           "00|0e|a24e4f", "MUST (a.must): It must.", "source: measured: x",
                           "Read it so.", "--filter A.Noop --seed 7", "--target tcp://127.0.0.1:"})
    EXPECT_THAT(out_.str(), HasSubstr(part));
  const std::filesystem::path repro = folder_ / "repro" / "A.Noop";
  EXPECT_TRUE(std::filesystem::exists(repro / "frames.kvr"));
  EXPECT_TRUE(std::filesystem::exists(repro / "replay.py"));
  EXPECT_EQ(json_["cases"][0]["frames"][0]["frames"][1], "0e");
  EXPECT_EQ(json_["cases"][0]["frames"][0]["dir"], ">");
}

TEST_F(RunTest, StopsJudgingADeadServerThatItDidNotStart) {
  EXPECT_EQ(run(mortal()), 1);
  EXPECT_EQ(json_["cases"][1]["verdict"], "DEAD");
  EXPECT_EQ(json_["cases"][2]["verdict"], nullptr);
  EXPECT_EQ(json_["summary"]["not_run"], 1);  // A.Blend is skipped, whoever lives
  EXPECT_THAT(out_.str(), HasSubstr("NOT RUN"));
}

TEST_F(RunTest, TakesListedFailuresForExpected) {
  expect("A.Poison DEAD  # dies of an unknown type\n");
  options_.strict = false;
  EXPECT_EQ(run(mortal()), 1);  // a case was not run
  EXPECT_EQ(json_["cases"][1]["grade"], "expected-failure");
  StubServer::Flaws flaws;
  flaws.answers_unknown = true;
  expect("A.Poison WRONG  # answers an unknown type\n");
  EXPECT_EQ(run(flaws), 0) << out_.str();
  EXPECT_THAT(out_.str(), HasSubstr("WRONG    A.Poison  # answers an unknown type"));
  EXPECT_THAT(out_.str(), HasSubstr("score 1/2 required cases, 1 failures as expected"));
}

TEST_F(RunTest, FailsAListedPass) {
  expect("A.Noop WRONG  # no more\n");
  EXPECT_EQ(run({}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("expects WRONG"));
}

TEST_F(RunTest, EndsWith2WhenTheListIsAtFault) {
  expect("A.Gone WRONG  # renamed\n");
  EXPECT_EQ(run({}), 2);
  expect("A.Noop WRONG\n");
  StubServer::Flaws flaws;
  flaws.answers_wrong = true;
  EXPECT_EQ(run(flaws), 2);
}

TEST_F(RunTest, RewritesTheList) {
  StubServer::Flaws flaws;
  flaws.answers_unknown = true;
  expect("# head\nA.Noop WRONG  # was so\n");
  options_.fix_expect = true;
  run(flaws);
  EXPECT_EQ(expect_file(), "# head\nA.Poison WRONG  # TODO: reason\n");
  options_.fix_expect = false;
  EXPECT_EQ(run(flaws), 2);  // a TODO is no reason
}

TEST_F(RunTest, RewritesNothingOfWhatItDidNotJudge) {
  expect("A.Noop WRONG  # was so\n");
  options_.fix_expect = true;
  EXPECT_EQ(run(mortal()), 2);
  EXPECT_EQ(expect_file(), "A.Noop WRONG  # was so\n");
  options_.filter = "A.*";
  EXPECT_THROW(run({}), UsageError);
}

TEST_F(RunTest, FailsWhenARequiredCapabilityIsMissing) {
  options_.require = {"lookup-hits", "LOOKUP"};
  EXPECT_EQ(run({}), 0);
  options_.require = {"blend-v1"};
  EXPECT_EQ(run({}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("lacks blend-v1"));
  options_.require = {"blend-v9"};
  EXPECT_THROW(run({}), UsageError);
}

TEST_F(RunTest, ReportsWhatTheBudgetLeft) {
  options_.budget_s = 1e-9;
  EXPECT_EQ(run({}), 2);
  EXPECT_EQ(json_["ended_early"], true);
  EXPECT_EQ(json_["summary"]["judged"], 0);
}

TEST_F(RunTest, RefusesWhatItCannotServe) {
  options_.release = "0.3.0";
  EXPECT_THROW(run({}), UsageError);
  options_.release = "0.4.5";
  options_.device = "cuda";
  EXPECT_THROW(run({}), UsageError);
  options_.device = "none";
  options_.target.clear();
  options_.start = "true";
  EXPECT_THROW(run_here(), UsageError);  // no {port}
}

TEST_F(RunTest, EndsWith2WhenTheServerCannotBeStarted) {
  options_.start = "echo sorry; exit 3; {port}";
  EXPECT_EQ(run_here(), 2);
  EXPECT_THAT(out_.str(), HasSubstr("exited with status 3"));
  EXPECT_THAT(out_.str(), HasSubstr("sorry"));
}

TEST_F(RunTest, FindsThePatternsInACommand) {
  using Tokens = std::vector<std::uint32_t>;
  const std::string command = "x --blend-start 1,22,3 --blend-end=4";
  EXPECT_EQ(pattern_of_command(command, "--blend-start"), (Tokens{1, 22, 3}));
  EXPECT_EQ(pattern_of_command(command, "--blend-end"), (Tokens{4}));
  EXPECT_EQ(pattern_of_command("x --blend-start '5,6'", "--blend-start"), (Tokens{5, 6}));
  EXPECT_EQ(pattern_of_command("x", "--blend-start"), Tokens{});
  EXPECT_EQ(pattern_of_command("x --blend-start", "--blend-start"), Tokens{});
  EXPECT_EQ(pattern_of_command("x --blend-start a", "--blend-start"), Tokens{});
  EXPECT_EQ(token_pattern("1,"), Tokens{});
  EXPECT_EQ(token_pattern("4294967296"), Tokens{});
}

TEST_F(RunTest, FindsTheCacheSizeInACommand) {
  EXPECT_EQ(cache_bytes_of_command("x --l1-size-gb 1 --y"), std::uint64_t{1} << 30U);
  EXPECT_EQ(cache_bytes_of_command("x --l1-size-gb=0.5"), std::uint64_t{1} << 29U);
  EXPECT_EQ(cache_bytes_of_command("x"), std::nullopt);
  EXPECT_EQ(cache_bytes_of_command("x --l1-size-gb"), std::nullopt);
  EXPECT_EQ(cache_bytes_of_command("x --l1-size-gb much"), std::nullopt);
  EXPECT_EQ(cache_bytes_of_command("x --l1-size-gb-min 1"), std::nullopt);
}

TEST(ServerUnderTest, QuotesForAShell) {
  EXPECT_EQ(shell_quoted("a-b.c"), "a-b.c");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
}

// Waits until the child has ended, and leaves its status to it.
void await_end(const ChildProcess& child) {
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT), 0);
}

TEST(ChildProcess, TellsHowItEnded) {
  const std::string log = testing::TempDir() + "kvc-child-" + std::to_string(::getpid());
  const auto reason = [&](const std::string& line) {
    ChildProcess child({"/bin/sh", "-c", line}, log);
    await_end(child);
    return child.exit_reason().value_or("still runs");
  };
  EXPECT_EQ(reason("exit 3"), "exited with status 3");
  EXPECT_THAT(reason("kill -SEGV $$"), HasSubstr("signal 11"));
  ChildProcess missing({"/no/such/program"}, log);
  await_end(missing);
  EXPECT_EQ(missing.exit_reason().value_or("still runs"), "exited with status 127");
  std::filesystem::remove(log);
}

// "R", "Z", …, or nothing for a process that is no more.
std::string state_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string number;
  std::string name;
  std::string state;
  file >> number >> name >> state;
  return state;
}

TEST(ChildProcess, EndsWithAllThatItStarted) {
  const std::string log = testing::TempDir() + "kvc-group-" + std::to_string(::getpid());
  ChildProcess child({"/bin/sh", "-c", "trap '' TERM; sleep 1000 & echo $!; wait; wait"}, log);
  std::string grandchild;
  while (grandchild.empty()) {
    std::ifstream file(log);
    file >> grandchild;
  }
  child.stop(std::chrono::milliseconds(10));
  EXPECT_TRUE(child.exit_reason());
  while (state_of(grandchild) != "" && state_of(grandchild) != "Z") std::this_thread::yield();
  std::filesystem::remove(log);
}

}  // namespace
}  // namespace kvc::conformance
