// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The judge is fed with traffic made by hand: right traffic leaves it silent, and each kind of
// fault is named with its rule, its side and its client.
#include "conformance/watch/traffic_judge.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kvc/protocol/codec.h"

namespace kvc::conformance {
namespace {

constexpr double kOverdueMs = 1000;

class TrafficJudgeTest : public testing::Test {
 protected:
  void message(int client, bool sent, const std::vector<Bytes>& frames) {
    const std::vector<ByteView> views(frames.begin(), frames.end());
    judge_.see({now_ms_ += 1, client, sent, views});
  }
  static Bytes type(RequestType type) { return encoded(Int(registry_0_4_5().find(type)->number)); }
  static Bytes uid(int number) { return encoded(Int(number)); }

  void request(int client, int number, RequestType what, const std::vector<Bytes>& payloads = {}) {
    std::vector<Bytes> frames{uid(number), type(what)};
    frames.insert(frames.end(), payloads.begin(), payloads.end());
    message(client, true, frames);
  }
  void reply(int client, int number, RequestType what, const std::vector<Bytes>& result = {}) {
    std::vector<Bytes> frames{uid(number), type(what)};
    frames.insert(frames.end(), result.begin(), result.end());
    message(client, false, frames);
  }
  void noop(int client, int number) {
    request(client, number, RequestType::kNoop);
    reply(client, number, RequestType::kNoop, {ok_});
  }
  std::vector<std::string> rules() const {
    std::vector<std::string> out;
    for (const TrafficFault& fault : faults_) out.push_back(fault.rule);
    return out;
  }
  using Rules = std::vector<std::string>;

  Bytes ok_ = encoded(std::string("OK"));
  double now_ms_ = 0;
  std::vector<TrafficFault> faults_;
  TrafficJudge judge_{registry_0_4_5(), kOverdueMs,
                      [this](const TrafficFault& fault) { faults_.push_back(fault); }};
};

TEST_F(TrafficJudgeTest, IsSilentAboutRightTraffic) {
  for (int client = 1; client <= 3; ++client) {
    request(client, 1, RequestType::kPing);
    request(client, 2, RequestType::kNoop);
    reply(client, 2, RequestType::kNoop, {ok_});
    reply(client, 1, RequestType::kPing, {encoded(true)});
    request(client, 3, RequestType::kClear);
    reply(client, 3, RequestType::kClear);
  }
  judge_.end(now_ms_ + 10 * kOverdueMs);
  EXPECT_EQ(rules(), Rules{});
  EXPECT_EQ(judge_.rows().at(RequestType::kNoop).replies, 3u);
  EXPECT_EQ(judge_.rows().at(RequestType::kPing).latency.count(), 3u);
}

TEST_F(TrafficJudgeTest, NamesRequestsThatAreNone) {
  message(1, true, {uid(1)});
  message(1, true, {uid(2), encoded(Int(99))});
  request(1, 3, RequestType::kNoop, {encoded(true)});
  request(1, 4, RequestType::kUnregisterKvCache, {encoded(true)});
  EXPECT_EQ(rules(), (Rules{"envelope.too-few-frames", "envelope.unknown-type",
                            "envelope.payload-count", "typing.refusal-is-silent"}));
  for (const TrafficFault& fault : faults_) EXPECT_EQ(fault.side, Side::kClient);
  EXPECT_NE(faults_[3].what.find("expected int, got bool"), std::string::npos);
}

TEST_F(TrafficJudgeTest, SaysOnceThatAClientSpeaksAnotherRelease) {
  message(1, true, {uid(1), encoded(Int(19))});
  message(1, true, {uid(2), encoded(Int(19))});
  message(2, true, {uid(1), encoded(Int(25))});
  const auto said = std::count_if(faults_.begin(), faults_.end(), [](const TrafficFault& fault) {
    return fault.rule == "registry.renumbering";
  });
  EXPECT_EQ(said, 2);
  EXPECT_NE(faults_[1].what.find("NOOP of 0.4.6: client 1"), std::string::npos);
}

TEST_F(TrafficJudgeTest, NamesASecondReplyAndOneForNobody) {
  noop(1, 1);
  reply(1, 1, RequestType::kNoop, {ok_});
  request(1, 2, RequestType::kNoop);
  reply(2, 2, RequestType::kNoop, {ok_});  // to another client
  EXPECT_EQ(rules(), (Rules{"envelope.one-reply", "envelope.one-reply"}));
}

TEST_F(TrafficJudgeTest, NamesAnAnswerToWhatHadToBeDropped) {
  request(1, 1, RequestType::kNoop, {encoded(true)});
  reply(1, 1, RequestType::kNoop, {ok_});
  EXPECT_EQ(rules(), (Rules{"envelope.payload-count", "typing.refusal-is-silent"}));
  EXPECT_EQ(faults_[1].side, Side::kServer);
}

TEST_F(TrafficJudgeTest, NamesResultsOfTheWrongShape) {
  request(1, 1, RequestType::kNoop);
  reply(1, 1, RequestType::kNoop, {encoded(Int(1))});
  request(1, 2, RequestType::kClear);
  reply(1, 2, RequestType::kClear, {Bytes{0xc0}});
  request(1, 3, RequestType::kPing);
  reply(1, 3, RequestType::kPing);
  request(1, 4, RequestType::kNoop);
  reply(1, 4, RequestType::kNoop, {ok_, ok_});
  EXPECT_EQ(rules(), (Rules{"registry.result-types", "envelope.none-has-no-frame",
                            "envelope.result-frame", "envelope.result-frame"}));
}

TEST_F(TrafficJudgeTest, NamesAnotherTypeFrame) {
  request(1, 1, RequestType::kNoop);
  message(1, false, {uid(1), Bytes{0xcc, 14}, ok_});
  EXPECT_EQ(rules(), Rules{"envelope.echo-type"});
}

TEST_F(TrafficJudgeTest, NamesSyncRepliesOutOfOrder) {
  request(1, 1, RequestType::kNoop);
  request(1, 2, RequestType::kGetChunkSize);
  reply(1, 2, RequestType::kGetChunkSize, {encoded(Int(16))});
  reply(1, 1, RequestType::kNoop, {ok_});
  EXPECT_EQ(rules(), Rules{"handlers.sync-order"});
}

TEST_F(TrafficJudgeTest, TellsAnOverdueReplyOnceAndTakesItLate) {
  noop(2, 1);
  request(1, 1, RequestType::kPing);
  noop(2, 2);
  judge_.look_at_clock(now_ms_ += 2 * kOverdueMs);
  judge_.look_at_clock(now_ms_ += 1);
  EXPECT_EQ(rules(), Rules{"envelope.one-reply"}) << "others were answered: it lives";
  reply(1, 1, RequestType::kPing, {encoded(true)});
  EXPECT_EQ(rules().size(), 1u);
}

TEST_F(TrafficJudgeTest, TellsManyOverdueRepliesInALineForEachClient) {
  for (int i = 0; i < 50; ++i) request(1, i, RequestType::kNoop);
  request(2, 1, RequestType::kNoop);
  noop(3, 1);
  judge_.look_at_clock(now_ms_ += 2 * kOverdueMs);
  ASSERT_EQ(rules(), (Rules{"envelope.one-reply", "envelope.one-reply"}));
  EXPECT_NE(faults_[0].what.find("uid=0 of 1 ms (and 49 more of this client)"), std::string::npos)
      << faults_[0].what;
  EXPECT_EQ(judge_.rows().at(RequestType::kNoop).overdue, 51u);
}

TEST_F(TrafficJudgeTest, OnlyNotesWhatMayBeARefusal) {
  request(1, 1, RequestType::kUnregisterKvCache, {encoded(Int(5))});
  noop(1, 2);
  judge_.look_at_clock(now_ms_ += 2 * kOverdueMs);
  ASSERT_EQ(rules().size(), 1u);
  EXPECT_TRUE(faults_[0].note);
  EXPECT_EQ(judge_.num_faults(Side::kServer), 0u);
}

TEST_F(TrafficJudgeTest, NamesTheMessageThatKilledTheServer) {
  noop(1, 1);
  request(2, 5, RequestType::kNoop, {encoded(true)});  // to be dropped, and harmless
  message(3, true, {uid(7), encoded(Int(99))});
  message(3, true, {uid(8), encoded(Int(98))});
  request(1, 2, RequestType::kNoop);
  request(2, 1, RequestType::kNoop);
  judge_.look_at_clock(now_ms_ += 2 * kOverdueMs);
  judge_.look_at_clock(now_ms_ += 2 * kOverdueMs);
  const auto dead = std::find_if(faults_.begin(), faults_.end(), [](const TrafficFault& fault) {
    return fault.rule == "robustness.one-client-stops-nobody";
  });
  ASSERT_NE(dead, faults_.end());
  EXPECT_EQ(dead->client, 3);
  EXPECT_EQ(dead->frames, "07|63");
  const Rules all = rules();
  EXPECT_EQ(std::count(all.begin(), all.end(), "robustness.one-client-stops-nobody"), 1);
}

TEST_F(TrafficJudgeTest, NamesLocksThatTheEndOfTheSessionLeaves) {
  judge_.set_chunk_size(16);
  Key key;
  key.model_name = "m";
  key.token_ids = IntArray::of(std::vector<Int>(32, 1));
  key.end = 32;
  key.request_id = "r";
  request(1, 1, RequestType::kLookup, {encoded(key), encoded(Int(1))});
  reply(1, 1, RequestType::kLookup);
  request(1, 2, RequestType::kQueryPrefetchStatus, {encoded(std::string("r"))});
  reply(1, 2, RequestType::kQueryPrefetchStatus, {encoded(OptionalInt(2))});
  key.end = 16;
  request(1, 3, RequestType::kFreeLookupLocks, {encoded(key), encoded(Int(1))});
  reply(1, 3, RequestType::kFreeLookupLocks);
  request(1, 4, RequestType::kEndSession, {encoded(std::string("r"))});
  reply(1, 4, RequestType::kEndSession);
  ASSERT_EQ(rules(), Rules{"session.end-keeps-locks"});
  EXPECT_NE(faults_[0].what.find("1 of the 2 chunks"), std::string::npos);
}

TEST_F(TrafficJudgeTest, ForgetsWhatIsNeverAnswered) {
  for (int i = 0; i < 100; ++i) request(1, i, RequestType::kNoop, {encoded(true)});
  judge_.look_at_clock(now_ms_ += 10 * kOverdueMs);
  faults_.clear();
  reply(1, 5, RequestType::kNoop, {ok_});
  EXPECT_EQ(rules(), Rules{"envelope.one-reply"});
}

}  // namespace
}  // namespace kvc::conformance
