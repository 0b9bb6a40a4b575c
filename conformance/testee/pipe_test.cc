// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/testee/pipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace kvc::conformance {
namespace {

using testing::HasSubstr;

// Long enough for a loaded machine where an answer is due, short where none comes.
constexpr std::chrono::milliseconds kLong{20000};
constexpr std::chrono::milliseconds kShort{100};

class PipeTest : public testing::Test {
 protected:
  ~PipeTest() override { std::filesystem::remove(log_); }

  PipeFault fault(const std::string& command, std::chrono::milliseconds timeout = kLong,
                  std::size_t message_bytes = 1) {
    Pipe pipe(command, log_);
    const auto answer = pipe.exchange(Bytes(message_bytes, 'm'), timeout);
    if (const auto* found = std::get_if<PipeFault>(&answer)) return *found;
    ADD_FAILURE() << command << " gave a reply";
    return {};
  }

  std::string log_ = testing::TempDir() + "kvc-pipe-" + std::to_string(::getpid());
};

TEST_F(PipeTest, CarriesMessages) {
  Pipe pipe("cat", log_);
  // cat answers while it reads, so no more than fits the two pipes may be on its way.
  for (const std::size_t size : {0U, 1U, 255U, 256U, 65536U}) {
    Bytes message(size);
    for (std::size_t i = 0; i < size; ++i) message[i] = static_cast<std::uint8_t>(i * 7);
    const auto answer = pipe.exchange(message, kLong);
    ASSERT_TRUE(std::holds_alternative<Bytes>(answer)) << size;
    EXPECT_EQ(std::get<Bytes>(answer), message);
  }
}

TEST_F(PipeTest, TellsHowAProcessEnded) {
  EXPECT_EQ(fault("exit 3").text, "exited with status 3");
  EXPECT_EQ(fault("head -c 5 >/dev/null").text, "exited with status 0");
  EXPECT_THAT(fault("head -c 5 >/dev/null; kill -SEGV $$").text, HasSubstr("signal 11"));
  EXPECT_THAT(fault("sh -c 'head -c 5 >/dev/null; kill -SEGV $$'; exit $?").text,
              HasSubstr("exited with status 139 (signal 11"));
  EXPECT_THAT(fault("/no/such/program").text, HasSubstr("not found"));
  EXPECT_EQ(fault("exit 3").kind, PipeFault::Kind::kExited);
}

TEST_F(PipeTest, TellsOfAClosedStdout) {
  const PipeFault found = fault("head -c 5 >/dev/null; exec 1>&-; sleep 1000");
  EXPECT_EQ(found.kind, PipeFault::Kind::kExited);
  EXPECT_EQ(found.text, "closed its stdout");
}

TEST_F(PipeTest, TellsOfAHang) {
  EXPECT_EQ(fault("sleep 1000", kShort).kind, PipeFault::Kind::kHangs);
  EXPECT_THAT(fault("sleep 1000", kShort, std::size_t{1} << 20U).text, HasSubstr("stdin"));
  // Half a reply is none.
  const PipeFault half =
      fault("head -c 5 >/dev/null; printf '\\004\\000\\000\\000ab'; sleep 1000", kShort);
  EXPECT_EQ(half.kind, PipeFault::Kind::kHangs);
}

TEST_F(PipeTest, TellsOfAReplyTooLong) {
  const PipeFault found = fault("head -c 5 >/dev/null; printf '\\377\\377\\377\\377'; sleep 1000");
  EXPECT_EQ(found.kind, PipeFault::Kind::kTooLong);
  EXPECT_THAT(found.text, HasSubstr("4294967295"));
}

TEST_F(PipeTest, TellsOfBytesBehindAReply) {
  Pipe pipe("head -c 5 >/dev/null; printf '\\001\\000\\000\\000ax'; sleep 1000", log_);
  ASSERT_TRUE(std::holds_alternative<Bytes>(pipe.exchange(Bytes{'m'}, kLong)));
  const auto answer = pipe.exchange(Bytes{'m'}, kLong);
  ASSERT_TRUE(std::holds_alternative<PipeFault>(answer));
  EXPECT_EQ(std::get<PipeFault>(answer).kind, PipeFault::Kind::kTooLong);
}

TEST_F(PipeTest, KeepsStderrInTheLog) {
  fault("echo sorry >&2; exit 1");
  std::ifstream file(log_);
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "sorry");
}

TEST_F(PipeTest, SaysTheSameOfAProcessThatEndedBefore) {
  Pipe pipe("exit 3", log_);
  ASSERT_TRUE(std::holds_alternative<PipeFault>(pipe.exchange(Bytes{1}, kLong)));
  EXPECT_TRUE(std::holds_alternative<PipeFault>(pipe.exchange(Bytes{1}, kLong)));
}

}  // namespace
}  // namespace kvc::conformance
