// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "conformance/harness/client.h"
#include "conformance/harness/decode_command.h"
#include "conformance/harness/message_text.h"
#include "conformance/harness/stand_ins.h"
#include "conformance/harness/stub_server.h"
#include "kvc/protocol/codec.h"

namespace kvc::conformance {
namespace {

using testing::HasSubstr;

RunSettings quick() {
  RunSettings settings;
  settings.timeout = std::chrono::seconds(1);
  settings.probe_timeout = std::chrono::seconds(1);
  return settings;
}

ReplayFile recorded_noop() {
  ReplayFile file;
  file.header = {"A.One", "0.4.5", "WRONG", "this", "that \xff", 7};
  file.entries = {{0.5, 1, true, {{0x01}, {0x0e}}},
                  {0.75, 1, false, {{0x01}, {0x0e}, {0xa2, 0x4f, 0x4b}}},
                  {1.0, 2, true, {{}}}};
  return file;
}

std::string replayed(const std::string& endpoint, const ReplayFile& file, ReplayOutcome& outcome) {
  RunContext context(registry_0_4_5(), quick());
  context.set_endpoint(endpoint);
  std::ostringstream out;
  outcome = replay(context, file, out);
  return out.str();
}

TEST(Replay, FindsTheSameReplies) {
  StubServer stub;
  ReplayOutcome outcome;
  const std::string text = replayed(stub.endpoint(), recorded_noop(), outcome);
  EXPECT_EQ(outcome.same, 1) << text;
  EXPECT_EQ(outcome.missing + outcome.other + outcome.more, 0) << text;
  EXPECT_TRUE(outcome.alive);
  EXPECT_THAT(text, HasSubstr("NOOP uid=1 -> \"OK\""));
}

TEST(Replay, TellsOtherMissingAndMoreReplies) {
  StubServer::Flaws flaws;
  flaws.answers_wrong = true;
  flaws.answers_twice = true;
  StubServer wrong(flaws);
  ReplayOutcome outcome;
  replayed(wrong.endpoint(), recorded_noop(), outcome);
  EXPECT_EQ(outcome.other, 1);
  EXPECT_EQ(outcome.more, 1);
  StubServer::Flaws mute;
  mute.silent = true;
  StubServer silent(mute);
  replayed(silent.endpoint(), recorded_noop(), outcome);
  EXPECT_EQ(outcome.missing, 1);
  EXPECT_FALSE(outcome.alive);
}

TEST(Replay, FindsRepliesByTheirUids) {
  StubServer stub;
  ReplayFile file = recorded_noop();
  // Recorded in another order than this server answers in.
  file.entries = {
      {0, 1, true, {{0x01}, {0x0e}}},          {0, 2, true, {{0x01}, {0x0c}}},
      {0, 1, true, {{0x02}, {0x0b}}},          {1, 1, false, {{0x02}, {0x0b}, {0x20}}},
      {1, 2, false, {{0x01}, {0x0c}, {0xc3}}}, {1, 1, false, {{0x01}, {0x0e}, {0xa2, 0x4f, 0x4b}}}};
  ReplayOutcome outcome;
  const std::string text = replayed(stub.endpoint(), file, outcome);
  EXPECT_EQ(outcome.same, 3) << text;
  EXPECT_TRUE(outcome.as_recorded()) << text;
}

TEST(Replay, SendsAtTheRecordedTimes) {
  StubServer stub;
  ReplayFile file = recorded_noop();
  file.entries = {{0, 1, true, {{0x01}, {0x0e}}}, {120, 1, true, {{0x02}, {0x0e}}}};
  RunContext context(registry_0_4_5(), quick());
  context.set_endpoint(stub.endpoint());
  std::ostringstream out;
  replay(context, file, out, {true});
  const std::vector<TraceEntry> trace = context.trace().entries();
  ASSERT_GE(trace.size(), 2U);
  const auto second = std::find_if(trace.begin(), trace.end(), [](const TraceEntry& entry) {
    return entry.sent && entry.frames[0] == Bytes{0x02};
  });
  ASSERT_NE(second, trace.end());
  EXPECT_GE(second->t_ms, 119.0);  // at the earliest: how late it comes is up to the machine
}

TEST(Replay, TakesAnotherHandleForTheSame) {
  const auto reply = [](std::uint8_t byte, bool ok) {
    return Frames{{1}, {3}, encoded(TransferResult{Bytes(64, byte), ok})};
  };
  const Registry& registry = registry_0_4_5();
  EXPECT_TRUE(same_reply(registry, reply(1, true), reply(2, true)));
  EXPECT_FALSE(same_reply(registry, reply(1, true), reply(1, false)));
  EXPECT_FALSE(same_reply(registry, reply(1, true), {{1}, {3}, encoded(TransferResult{{}, true})}));
  EXPECT_FALSE(same_reply(registry, {{1}, {14}, {1}}, {{1}, {14}, {2}}));
}

class ScratchName {
 public:
  ScratchName() : name_("/kvc-stand-in-test-" + std::to_string(::getpid())) {}
  ~ScratchName() { ::shm_unlink(name_.c_str()); }
  const std::string& name() const { return name_; }
  bool exists() const { return std::filesystem::exists("/dev/shm" + name_); }
  Bytes handle(std::string_view magic) const {
    Bytes out = to_bytes(as_bytes(std::string(magic) + name_));
    out.resize(64);
    return out;
  }

 private:
  std::string name_;
};

TEST(StandIns, AreThereWhileTheyAreNeeded) {
  const ScratchName scratch;
  IpcTensor tensor;
  tensor.handle = RawIpcHandle{scratch.handle("KVHOSTM1"), Int(4096)};
  tensor.dtype = "uint8";
  tensor.shape = {Int(4096)};
  tensor.stride = {Int(1)};
  tensor.device_uuid = "HOST-x";
  const std::vector<TraceEntry> entries = {{0,
                                            1,
                                            true,
                                            {{1},
                                             {15},
                                             encoded(Int(7)),
                                             encoded(KVCache{tensor}),
                                             encoded(std::string("m")),
                                             encoded(Int(1))}}};
  const auto objects = shared_memory_of(registry_0_4_5(), entries);
  ASSERT_EQ(objects.size(), 1U);
  EXPECT_EQ(objects.begin()->first, scratch.name());
  EXPECT_EQ(objects.begin()->second, 4096U);
  {
    const StandIns stand_ins(objects);
    EXPECT_EQ(stand_ins.num_made(), 1U);
    EXPECT_TRUE(scratch.exists());
    EXPECT_EQ(std::filesystem::file_size("/dev/shm" + scratch.name()), 4096U);
    // What is there is left alone.
    const StandIns second(objects);
    EXPECT_EQ(second.num_made(), 0U);
  }
  EXPECT_FALSE(scratch.exists());
}

TEST(StandIns, StandInForEventsToo) {
  const ScratchName scratch;
  const std::vector<TraceEntry> entries = {
      {0,
       1,
       true,
       {{1},
        {3},
        encoded(Key{}),
        encoded(Int(1)),
        encoded(IntArray{}),
        encoded(scratch.handle("KVHOSTE1"))}},
      // None of these names anything: a reply, memory as an event, and a name that goes elsewhere.
      {0, 1, false, {{1}, {3}, encoded(TransferResult{scratch.handle("KVHOSTE1"), true})}},
      {0,
       1,
       true,
       {{1},
        {3},
        encoded(Key{}),
        encoded(Int(1)),
        encoded(IntArray{}),
        encoded(scratch.handle("KVHOSTM1"))}},
      {0,
       1,
       true,
       {{1},
        {3},
        encoded(Key{}),
        encoded(Int(1)),
        encoded(IntArray{}),
        encoded(scratch.handle("KVHOSTE1/.."))}}};
  const auto objects = shared_memory_of(registry_0_4_5(), entries);
  ASSERT_EQ(objects.size(), 1U);
  EXPECT_EQ(objects.begin()->second, 16U);
}

std::string decoded(const std::string& input) {
  std::ostringstream out;
  decode_command(registry_0_4_5(), input, out);
  return out.str();
}

TEST(Decode, SaysWhatAMessageIs) {
  EXPECT_THAT(decoded("01|0e|a24f4b"), HasSubstr("as a response: NOOP uid=1 -> \"OK\""));
  EXPECT_THAT(decoded("01|0e|a24f4b"), HasSubstr("as a request:  no"));
  EXPECT_THAT(decoded("02|0c"), HasSubstr("as a request:  PING uid=2 ()"));
  EXPECT_THAT(decoded("03|0b|cd0100"), HasSubstr("GET_CHUNK_SIZE uid=3 -> 256"));
  EXPECT_THAT(decoded("04|0a"), HasSubstr("CLEAR uid=4 -> None (no result frame)"));
  EXPECT_THAT(decoded("01|63"), HasSubstr("no message of release 0.4.5"));
  EXPECT_THAT(decoded("0011223344|01|0e"), HasSubstr("identity 0011223344"));
}

TEST(Decode, SaysWhatAFrameIs) {
  EXPECT_THAT(decoded("0e"), HasSubstr("as a type frame: NOOP"));
  EXPECT_THAT(decoded("92c403010203c3"), HasSubstr("as tuple[bytes, bool]"));
  EXPECT_THAT(decoded("c1"), HasSubstr("no msgpack"));
  EXPECT_THAT(decoded("a44f"), HasSubstr("truncated"));
  EXPECT_THAT(decoded("0102"), HasSubstr("1 and then 1 more bytes (02)"));
  EXPECT_THAT(decoded("ddffffffff"), HasSubstr("truncated"));
  EXPECT_THAT(decoded("xyz"), HasSubstr("no file, and no hex"));
}

TEST(Decode, SurvivesDeepNesting) {
  EXPECT_THAT(msgpack_in_words(Bytes(100000, 0x91)), HasSubstr("too deep"));
}

}  // namespace
}  // namespace kvc::conformance
