// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The suite as it is shipped: ledger and cases fit together, and the built program keeps what the
// command line promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "conformance/cases/testee/testee_cases.h"
#include "conformance/harness/child_process.h"
#include "conformance/harness/ledger.h"
#include "conformance/harness/stub_server.h"

namespace kvc::conformance {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Json = nlohmann::json;

struct Ended {
  int code = -1;
  std::string output;  // stdout and stderr
};

Ended kvconform(const std::string& arguments, const std::string& environment = "") {
  const std::string line =
      environment + " " + std::string(KVC_KVCONFORM) + " " + arguments + " 2>&1 </dev/null";
  Ended ended;
  FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return ended;
  char buffer[4096];
  for (std::size_t size = 0; (size = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    ended.output.append(buffer, size);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  return ended;
}

class CommandTest : public testing::Test {
 protected:
  CommandTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("kvc-suite-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~CommandTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Ended run(const std::string& arguments, const std::string& environment = "") {
    return kvconform("run --target " + stub_.endpoint() + " --device none --repro-dir " +
                         path("repro") + " " + arguments,
                     environment);
  }

  std::filesystem::path folder_;
  StubServer stub_;
};

TEST(Suite, LedgerAndCasesFitTogether) {
  const Registry& registry = registry_0_4_5();
  const CaseList cases = merged(all_cases(registry), testee_cases(registry, ""));
  EXPECT_THAT(Ledger::embedded().problems(cases), IsEmpty());
}

TEST(Suite, IsTheLedgerOfTheSourceTree) {
  std::ifstream file(std::string(KVC_SOURCE_DIR) + "/conformance/requirements.yaml");
  const Ledger ledger = Ledger::parse({std::istreambuf_iterator<char>(file), {}});
  EXPECT_EQ(ledger.requirements().size(), Ledger::embedded().requirements().size());
}

TEST_F(CommandTest, RunsOneCaseAndWritesItsReports) {
  const Ended ended =
      run("--filter Envelope.EchoesShortUids --junit " + path("junit.xml") + " --json " +
          path("run.json") + " --html " + path("run.html") + " --markdown " + path("run.md") +
          " --badge " + path("badge.json") + " --server-version v7");
  EXPECT_THAT(ended.output, HasSubstr("1 PASS"));
  EXPECT_THAT(ended.output, Not(HasSubstr("[  PASSED  ]")));
  EXPECT_THAT(read("junit.xml"), HasSubstr("classname=\"Envelope\""));
  EXPECT_EQ(Json::parse(read("run.json"))["cases"].size(), 1U);
  EXPECT_EQ(Json::parse(read("run.json"))["server_version"], "v7");
  EXPECT_THAT(read("run.html"), HasSubstr("all 1 required cases"));
  EXPECT_THAT(read("run.md"), HasSubstr("kvconform: conforms"));
  EXPECT_EQ(Json::parse(read("badge.json"))["message"], "1/1");
}

TEST_F(CommandTest, NamesTheFlawBetweenTwoRuns) {
  const std::string filter = " --filter 'Controller.*' --json ";
  run(filter + path("old.json"));
  StubServer::Flaws wrong;
  wrong.adds_frame = true;
  StubServer flawed(wrong);
  kvconform("run --target " + flawed.endpoint() + " --device none --repro-dir " + path("repro") +
            filter + path("new.json"));
  const std::string files = path("old.json") + " " + path("new.json");
  const Ended diff = kvconform("diff " + files + " --markdown " + path("diff.md"));
  EXPECT_EQ(diff.code, 1) << diff.output;
  EXPECT_THAT(diff.output, HasSubstr("newly failing"));
  EXPECT_THAT(diff.output, HasSubstr("! Controller."));
  EXPECT_THAT(diff.output, HasSubstr(stub_.endpoint() + " -> the server at " + flawed.endpoint()));
  EXPECT_THAT(read("diff.md"), HasSubstr("newly failing"));
  EXPECT_EQ(kvconform("diff " + path("new.json") + " " + path("old.json")).code, 0);
  EXPECT_EQ(kvconform("diff " + path("old.json") + " /no/such/file").code, 2);
  EXPECT_EQ(kvconform("diff " + path("old.json") + " " + path("diff.md")).code, 2);
}

TEST_F(CommandTest, SharesTheCasesOutAsGoogleTestDoes) {
  std::size_t total = 0;
  for (const char* index : {"0", "1", "2"}) {
    run("--filter 'Envelope.*' --json " + path("run.json"),
        std::string("GTEST_TOTAL_SHARDS=3 GTEST_SHARD_INDEX=") + index);
    total += Json::parse(read("run.json"))["cases"].size();
  }
  run("--filter 'Envelope.*' --json " + path("run.json"));
  EXPECT_EQ(total, Json::parse(read("run.json"))["cases"].size());
}

TEST_F(CommandTest, EndsWith2WhenUsedWrongly) {
  EXPECT_EQ(run("--filter No.SuchCase").code, 2);
  EXPECT_THAT(run("--filter No.SuchCase").output, HasSubstr("no case matches"));
  EXPECT_EQ(run("--no-such-option").code, 2);
  EXPECT_EQ(run("--start 'x {port}'").code, 2);
  EXPECT_THAT(run("--release 0.1").output, HasSubstr("known: 0.4.5"));
  EXPECT_EQ(run("--release 0.1").code, 2);
  EXPECT_EQ(run("--expect /no/such/file").code, 2);
  EXPECT_EQ(run("--fix-expect").code, 2);
  EXPECT_EQ(run("--timeout-ms 0").code, 2);
  EXPECT_EQ(kvconform("").code, 2);
  EXPECT_EQ(
      kvconform("run --target nonsense --start-timeout-s 1 --filter Envelope.EchoesShortUids").code,
      2);
  EXPECT_EQ(kvconform("--help").code, 0);
  EXPECT_EQ(kvconform("--version").code, 0);
}

TEST_F(CommandTest, WritesItsReportsWhenASignalEndsIt) {
  StubServer::Flaws mute;
  mute.silent = true;
  StubServer silent(mute);
  ChildProcess child({KVC_KVCONFORM, "run", "--target", silent.endpoint(), "--device", "none",
                      "--repro-dir", path("repro"), "--json", path("run.json")},
                     path("log"));
  while (silent.num_requests() == 0) std::this_thread::yield();  // it waits for the server by now
  ::kill(child.pid(), SIGINT);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(child.exit_reason().value_or("still runs"), "exited with status 2") << read("log");
  const Json report = Json::parse(read("run.json"));
  EXPECT_EQ(report["ended_early"], true);
  EXPECT_EQ(report["summary"]["judged"], 0);
}

TEST_F(CommandTest, LeavesWholeReportsWhenItIsKilled) {
  StubServer::Flaws mute;
  mute.silent = true;
  StubServer silent(mute);
  ChildProcess child(
      {KVC_KVCONFORM, "run", "--target", silent.endpoint(), "--device", "none", "--repro-dir",
       path("repro"), "--json", path("run.json"), "--html", path("run.html"), "--markdown",
       path("run.md"), "--badge", path("badge.json")},
      path("log"));
  while (silent.num_requests() == 0) std::this_thread::yield();
  ::kill(child.pid(), SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(Json::parse(read("run.json"))["finished"], false);
  EXPECT_THAT(read("run.html"), testing::EndsWith("</html>\n"));
  EXPECT_THAT(read("run.html"), HasSubstr("No verdict yet"));
  EXPECT_THAT(read("run.md"), HasSubstr("not finished"));
  EXPECT_EQ(Json::parse(read("badge.json"))["message"], "unfinished");
}

TEST_F(CommandTest, ListsAndExplains) {
  const Json list = Json::parse(kvconform("list --json").output);
  ASSERT_FALSE(list["cases"].empty());
  const std::string id = list["cases"][0]["id"];
  const std::string requirement = list["cases"][0]["requirements"][0];
  EXPECT_THAT(kvconform("explain " + id).output, HasSubstr(requirement));
  EXPECT_THAT(kvconform("explain " + requirement).output, HasSubstr(id));
  EXPECT_THAT(kvconform("explain '" + requirement.substr(0, 3) + "*'").output, HasSubstr(id));
  EXPECT_EQ(kvconform("explain no.such-id").code, 2);
  EXPECT_EQ(kvconform("list").code, 0);
}

TEST_F(CommandTest, ExplainsWhatTheReadmeNames) {
  std::ifstream file(std::string(KVC_SOURCE_DIR) + "/README.md");
  const std::string command = "build/bin/kvconform explain ";
  std::size_t num_named = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(command)) continue;
    const std::string id =
        line.substr(command.size(), line.find(' ', command.size()) - command.size());
    const Ended ended = kvconform("explain " + id);
    EXPECT_EQ(ended.code, 0) << ended.output;
    ++num_named;
  }
  EXPECT_GT(num_named, 0U);
}

TEST_F(CommandTest, Decodes) {
  EXPECT_THAT(kvconform("decode '02|0c|c3'").output, HasSubstr("PING uid=2 -> True"));
  EXPECT_EQ(kvconform("decode 'no hex'").code, 2);
}

}  // namespace
}  // namespace kvc::conformance
