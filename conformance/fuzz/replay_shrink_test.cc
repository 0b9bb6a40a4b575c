// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/fuzz/replay_shrink.h"

#include <gtest/gtest.h>

#include "conformance/harness/run_options.h"
#include "conformance/harness/stub_server.h"

namespace kvc::conformance {
namespace {

RunSettings quick() {
  RunSettings settings;
  settings.timeout = std::chrono::milliseconds(300);
  settings.probe_timeout = std::chrono::milliseconds(300);
  return settings;
}

// A server in this process lives on: it cannot be started again.
std::optional<ShrunkReplay> shrunk(StubServer& stub, const ReplayFile& file, ShrinkUntil until) {
  RunContext context(registry_0_4_5(), quick());
  ServerUnderTest server = ServerUnderTest::attached(stub.endpoint());
  ServerKeeper keeper(context, server);
  return ReplayShrinker(context, keeper, file, until).run(60);
}

const Bytes kOk = {0xa2, 0x4f, 0x4b};

// NOOP, PING and GET_CHUNK_SIZE of three clients, ten times, each with its right answer.
ReplayFile good_traffic() {
  ReplayFile file;
  for (int i = 0; i < 10; ++i) {
    const Bytes uid = {static_cast<std::uint8_t>(i)};
    for (const auto& [type, result] :
         std::vector<std::pair<Bytes, Bytes>>{{{0x0c}, {0xc3}}, {{0x0e}, kOk}, {{0x0b}, {0x20}}}) {
      const int client = 1 + static_cast<int>(file.entries.size() / 2) % 3;
      file.entries.push_back({0, client, true, {uid, type}});
      file.entries.push_back({0, client, false, {uid, type, result}});
    }
  }
  return file;
}

TEST(ReplayShrinker, FindsTheReplyThatDiffers) {
  StubServer::Flaws flaws;
  flaws.answers_wrong = true;
  StubServer stub(flaws);
  const auto found = shrunk(stub, good_traffic(), ShrinkUntil::kDiffers);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->file.entries.size(), 2U);
  EXPECT_EQ(found->file.entries[0].frames.at(1), Bytes{0x0e});
  EXPECT_EQ(found->num_messages, 1U);
}

TEST(ReplayShrinker, FindsTheReplyThatIsMissing) {
  StubServer::Flaws flaws;
  flaws.no_ping = true;
  StubServer stub(flaws);
  ReplayFile file = good_traffic();
  file.entries.resize(18);
  const auto found = shrunk(stub, file, ShrinkUntil::kSilent);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->file.entries.size(), 2U);
  ASSERT_EQ(found->file.entries[0].frames.size(), 2U);
  EXPECT_EQ(found->file.entries[0].frames[1], Bytes{0x0c});
}

TEST(ReplayShrinker, FindsTheSameWrongReplyAgain) {
  StubServer::Flaws flaws;
  flaws.answers_wrong = true;
  StubServer stub(flaws);
  ReplayFile file = good_traffic();
  file.header.verdict = "WRONG";
  file.entries.push_back({0, 2, true, {{0x40}, {0x0e}}});
  file.entries.push_back({0, 2, false, {{0x40}, {0x0e}, {0xa2, 0x4e, 0x4f}}});
  const auto found = shrunk(stub, file, until_of("", file.header));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->file.entries.size(), 2U);
  EXPECT_EQ(found->file.entries[0].frames, (Frames{{0x40}, {0x0e}}));
}

TEST(ReplayShrinker, SaysWhatIsNotSeen) {
  StubServer stub;
  EXPECT_FALSE(shrunk(stub, good_traffic(), ShrinkUntil::kDiffers));
  EXPECT_FALSE(shrunk(stub, good_traffic(), ShrinkUntil::kSilent));
  EXPECT_FALSE(shrunk(stub, good_traffic(), ShrinkUntil::kDead));
}

TEST(ReplayShrinker, StopsWhereNobodyCanStartTheServerAgain) {
  StubServer::Flaws flaws;
  flaws.dies_of_poison = true;
  StubServer stub(flaws);
  ReplayFile file = good_traffic();
  file.entries.insert(file.entries.begin() + 20, {0, 1, true, {{0x50}, {0x63}}});
  const auto found = shrunk(stub, file, ShrinkUntil::kDead);
  ASSERT_TRUE(found);  // all of it: the first try was the last
  EXPECT_EQ(found->file.entries.size(), file.entries.size());
  EXPECT_TRUE(found->given_up);
}

TEST(ShrinkUntil, FollowsFromTheVerdict) {
  ReplayHeader header;
  EXPECT_THROW(until_of("", header), UsageError);
  EXPECT_THROW(until_of("ever", header), UsageError);
  header.verdict = "DEAD";
  EXPECT_EQ(until_of("", header), ShrinkUntil::kDead);
  header.verdict = "SILENT";
  EXPECT_EQ(until_of("", header), ShrinkUntil::kSilent);
  EXPECT_EQ(until_of("differs", header), ShrinkUntil::kDiffers);
}

}  // namespace
}  // namespace kvc::conformance
