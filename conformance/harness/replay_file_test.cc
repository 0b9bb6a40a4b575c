// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/replay_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "conformance/harness/frame_json.h"

namespace kvc::conformance {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& text) {
  const Result<ReplayFile> file = read_replay(text);
  return file.ok() ? "" : file.error().text();
}

ReplayFile one_message(const Frames& frames) {
  ReplayFile file;
  file.entries = {{0, 1, true, frames}};
  return file;
}

TEST(ReplayFile, ReadsWhatItWrote) {
  ReplayFile file;
  file.header = {"A.One", "0.4.5", "WRONG", "this", "that \xff", 7};
  file.entries = {{0.5, 1, true, {{0x01}, {0x0e}}},
                  {0.75, 1, false, {{0x01}, {0x0e}, {0xa2, 0x4f, 0x4b}}},
                  {1.0, 2, true, {{}}}};
  const Result<ReplayFile> back = read_replay(write_replay(file));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(back->header.id, "A.One");
  EXPECT_EQ(back->header.seed, 7U);
  ASSERT_EQ(back->entries.size(), 3U);
  EXPECT_EQ(back->entries[1].frames, file.entries[1].frames);
  EXPECT_FALSE(back->entries[1].sent);
  EXPECT_EQ(back->entries[2].client, 2);
  EXPECT_EQ(back->entries[2].frames, Frames{{}});
  EXPECT_DOUBLE_EQ(back->entries[1].t_ms, 0.75);
}

TEST(ReplayFile, ReadsVersionOne) {
  const Result<ReplayFile> file = read_replay(
      "{\"kvr\": 1, \"case\": \"A.One\"}\n"
      "{\"t_ms\": 1.5, \"client\": 3, \"dir\": \">\", \"frames\": [\"01\", \"0e\"], \"new\": 1}\n");
  ASSERT_TRUE(file.ok()) << file.error().text();
  ASSERT_EQ(file->entries.size(), 1U);
  EXPECT_EQ(file->entries[0].frames, (Frames{{1}, {14}}));
}

TEST(ReplayFile, SaysWhichLineAndWhatInItIsWrong) {
  const std::string head = "{\"kvr\": 2}\n";
  EXPECT_EQ(error_of(head), "");
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_THAT(error_of("\n\n"), HasSubstr("empty"));
  EXPECT_THAT(error_of("[]\n"), HasSubstr("line 1: $.kvr"));
  EXPECT_THAT(error_of("{\"kvr\": 3}\n"), HasSubstr("version"));
  EXPECT_THAT(error_of("{\"kvr\": 0}\n"), HasSubstr("version"));
  EXPECT_THAT(error_of(head + "{\n"), HasSubstr("line 2: no JSON"));
  EXPECT_THAT(error_of(head + "7\n"), HasSubstr("line 2: $: expected an object"));
  EXPECT_THAT(error_of(head + "{\"client\": 1, \"dir\": \"?\", \"frames\": []}\n"),
              HasSubstr("line 2: $.dir"));
  EXPECT_THAT(error_of(head + "\n{\"client\": \"a\", \"dir\": \">\", \"frames\": []}\n"),
              HasSubstr("line 3: $.client"));
  EXPECT_THAT(error_of(head + "{\"client\": 1, \"dir\": \">\", \"frames\": [\"00\", \"0\"]}\n"),
              HasSubstr("line 2: $.frames[1]"));
  EXPECT_THAT(error_of(head + "{\"client\": 1, \"dir\": \">\", \"frames\": [[\"00\", {}]]}\n"),
              HasSubstr("line 2: $.frames[0][1]"));
  EXPECT_THAT(error_of(head + "{\"client\": 1, \"t_ms\": \"x\", \"dir\": \">\", \"frames\": []}\n"),
              HasSubstr("line 2: $.t_ms"));
}

TEST(ReplayFile, KeepsHugeFramesShort) {
  Bytes tokens = {0xdd, 0x00, 0x0f, 0x42, 0x40};
  for (int i = 0; i < 1000000; ++i) tokens.insert(tokens.end(), {0xce, 0x00, 0x01, 0x86, 0xa0});
  const Frames frames = {{0x01}, Bytes(std::size_t{64} << 20, 0xc1), tokens, {0x0e}};
  const std::string text = write_replay(one_message(frames));
  EXPECT_LT(text.size(), 1000U);
  const Result<ReplayFile> back = read_replay(text);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_TRUE(back->entries.at(0).frames == frames);
}

TEST(ReplayFile, IsNotMadeToTakeAllMemory) {
  const std::string head = "{\"kvr\": 2}\n{\"client\": 1, \"dir\": \">\", \"frames\": [";
  EXPECT_THAT(error_of(head + "[{\"hex\": \"00\", \"times\": 1099511627776}]]}\n"),
              HasSubstr("line 2: $.frames[0][0]: the messages are larger"));
  EXPECT_THAT(error_of(head + "[{\"any\": 18446744073709551615}]]}\n"), HasSubstr("larger"));
  // Each of them alone would do.
  const std::string half = "[{\"hex\": \"0011\", \"times\": 300000000}]";
  EXPECT_THAT(error_of(head + half + ", " + half + "]}\n"), HasSubstr("$.frames[1][0]"));
}

TEST(FrameJson, ReadsWhatItWrote) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    Bytes frame;
    const std::size_t num_pieces = 1 + random() % 6;
    for (std::size_t i = 0; i < num_pieces; ++i) {
      Bytes piece(1 + random() % 20);
      for (std::uint8_t& byte : piece) byte = static_cast<std::uint8_t>(random());
      for (std::uint64_t times = 1 + random() % 50; times > 0; --times)
        frame.insert(frame.end(), piece.begin(), piece.end());
    }
    std::size_t left = std::size_t{1} << 20;
    const Result<Bytes> back = frame_from_json(frame_to_json(frame), "$", left);
    ASSERT_TRUE(back.ok()) << back.error().text();
    EXPECT_EQ(*back, frame) << "seed " << seed;
    EXPECT_EQ(left, (std::size_t{1} << 20) - frame.size());
  }
}

TEST(GoldenMessages, AreReadAsAReplayFile) {
  std::ifstream stream(KVC_SOURCE_DIR "/golden/0.4.5/messages/server.jsonl");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  ASSERT_TRUE(is_golden_messages(text));
  EXPECT_FALSE(is_replay(text));
  const Result<ReplayFile> file = read_replay_or_golden(text);
  ASSERT_TRUE(file.ok()) << file.error().text();
  EXPECT_EQ(file->header.release, "0.4.5");
  ASSERT_EQ(file->entries.size(), 56U);
  EXPECT_EQ(file->entries[0].frames, (Frames{{0x00}, {0x0e}}));
  EXPECT_EQ(file->entries[1].frames, (Frames{{0x00}, {0x0e}, {0xa2, 0x4f, 0x4b}}));
  EXPECT_FALSE(file->entries[1].sent);
  const auto error = read_golden_messages("{\"kvconform\": \"golden\"}\n{\"request\": []}\n");
  ASSERT_FALSE(error.ok());
  EXPECT_THAT(error.error().text(), HasSubstr("line 2: $.reply"));
}

}  // namespace
}  // namespace kvc::conformance
