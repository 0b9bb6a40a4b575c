// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "conformance/harness/client.h"
#include "conformance/harness/decode_command.h"
#include "conformance/harness/message_text.h"
#include "conformance/harness/stub_server.h"

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

TEST(ReplayFile, ReadsWhatItWrote) {
  const Result<ReplayFile> back = read_replay(write_replay(recorded_noop()));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->header.id, "A.One");
  EXPECT_EQ(back->header.seed, 7U);
  ASSERT_EQ(back->entries.size(), 3U);
  EXPECT_EQ(back->entries[1].frames, recorded_noop().entries[1].frames);
  EXPECT_FALSE(back->entries[1].sent);
  EXPECT_EQ(back->entries[2].client, 2);
  EXPECT_EQ(back->entries[2].frames, Frames{{}});
  EXPECT_DOUBLE_EQ(back->entries[1].t_ms, 0.75);
}

TEST(ReplayFile, SaysWhichLineIsWrong) {
  const std::string head = "{\"kvr\": 1}\n";
  const auto error = [](const std::string& text) {
    const Result<ReplayFile> file = read_replay(text);
    return file.ok() ? "" : file.error().text();
  };
  EXPECT_EQ(error(head), "");
  EXPECT_THAT(error(""), HasSubstr("empty"));
  EXPECT_THAT(error("[]\n"), HasSubstr("line 1"));
  EXPECT_THAT(error("{\"kvr\": 2}\n"), HasSubstr("version"));
  EXPECT_THAT(error(head + "{\n"), HasSubstr("line 2: no JSON"));
  EXPECT_THAT(error(head + "{\"client\": 1, \"dir\": \"?\", \"frames\": []}\n"), HasSubstr("dir"));
  EXPECT_THAT(error(head + "{\"client\": 1, \"dir\": \">\", \"frames\": [\"0\"]}\n"),
              HasSubstr("line 2"));
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
