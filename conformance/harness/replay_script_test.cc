// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The script that every failure leaves, run by a python with pyzmq where the machine has one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "conformance/harness/repro.h"
#include "conformance/harness/stub_server.h"

namespace kvc::conformance {
namespace {

using testing::HasSubstr;

// A python that imports zmq, or nothing.
std::string python() {
  const char* const told = std::getenv("KVC_PYTHON");
  for (const std::string& name : {std::string(told == nullptr ? "" : told), std::string("python3"),
                                  std::string("/usr/bin/python3")})
    if (!name.empty() && std::system((name + " -c 'import zmq' 2>/dev/null").c_str()) == 0)
      return name;
  return "";
}

struct Ran {
  int exit_code = -1;
  std::string output;
};

class ReplayScript : public testing::Test {
 protected:
  void SetUp() override {
    python_ = python();
    if (python_.empty()) GTEST_SKIP() << "no python here has pyzmq";
    folder_ = std::filesystem::temp_directory_path() /
              ("kvc-replay-script-" + std::to_string(::getpid()));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Ran run(const ReplayFile& file, const std::string& endpoint) const {
    write_repro_folder(folder_.string(), file);
    const std::string command =
        python_ + " '" + (folder_ / "replay.py").string() + "' " + endpoint + " 2>&1";
    Ran ran;
    FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return ran;
    char buffer[4096];
    while (const std::size_t size = std::fread(buffer, 1, sizeof buffer, pipe))
      ran.output.append(buffer, size);
    ran.exit_code = WEXITSTATUS(::pclose(pipe));
    return ran;
  }

  std::string python_;
  std::filesystem::path folder_;
};

ReplayFile two_clients(const std::string& verdict) {
  ReplayFile file;
  file.header = {"A.One", "0.4.5", verdict, "this", "that", 7};
  file.entries = {{0, 1, true, {{0x01}, {0x0e}}},
                  {0, 2, true, {{0x01}, {0x0c}}},
                  {1, 2, false, {{0x01}, {0x0c}, {0xc3}}},
                  {1, 1, false, {{0x01}, {0x0e}, {0xa2, 0x4f, 0x4b}}}};
  return file;
}

TEST_F(ReplayScript, SaysThatAllCameAsRecorded) {
  StubServer stub;
  const Ran ran = run(two_clients("WRONG"), stub.endpoint());
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("the server lives"));
  EXPECT_THAT(ran.output, HasSubstr("as recorded"));
}

TEST_F(ReplayScript, SaysThatARightServerAnswersOtherwise) {
  ReplayFile file = two_clients("WRONG");
  file.entries.back().frames.back() = {0xa2, 0x4e, 0x4f};  // what a wrong one said then
  StubServer stub;
  const Ran right = run(file, stub.endpoint());
  EXPECT_EQ(right.exit_code, 1) << right.output;
  EXPECT_THAT(right.output, HasSubstr("not as recorded"));
  StubServer::Flaws flaws;
  flaws.answers_wrong = true;
  StubServer wrong(flaws);
  EXPECT_EQ(run(file, wrong.endpoint()).exit_code, 0);
}

TEST_F(ReplayScript, ShowsADeathWithHugeFrames) {
  ReplayFile file = two_clients("DEAD");
  file.entries.push_back({2, 1, true, {{0x02}, {0x63}, Bytes(1 << 20, 0xc1)}});
  StubServer lives;
  const Ran right = run(file, lives.endpoint());
  EXPECT_EQ(right.exit_code, 1) << right.output;
  EXPECT_THAT(right.output, HasSubstr("it lives"));
  StubServer::Flaws flaws;
  flaws.dies_of_poison = true;
  StubServer dies(flaws);
  const Ran dead = run(file, dies.endpoint());
  EXPECT_EQ(dead.exit_code, 0) << dead.output;
  EXPECT_THAT(dead.output, HasSubstr("the server is dead"));
}

TEST_F(ReplayScript, TellsRepliesThatCameTwice) {
  StubServer::Flaws flaws;
  flaws.answers_twice = true;
  StubServer twice(flaws);
  const Ran ran = run(two_clients("WRONG"), twice.endpoint());
  EXPECT_EQ(ran.exit_code, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("more: 01|"));
}

}  // namespace
}  // namespace kvc::conformance
