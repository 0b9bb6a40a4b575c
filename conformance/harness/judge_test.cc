// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "conformance/harness/server_under_test.h"
#include "conformance/harness/stub_server.h"

namespace kvc::conformance {
namespace {

using testing::HasSubstr;

// For servers that answer: patient, so that a busy machine makes no difference.
RunSettings patient() {
  RunSettings settings;
  settings.seed = 7;
  settings.timeout = std::chrono::seconds(20);
  settings.probe_timeout = std::chrono::seconds(20);
  return settings;
}

// For servers that do not: their silence is what is waited for.
RunSettings impatient() {
  RunSettings settings;
  settings.seed = 7;
  settings.timeout = std::chrono::seconds(1);
  settings.probe_timeout = std::chrono::seconds(1);
  return settings;
}

CaseSpec spec_of(std::function<void(Case&)> body, std::vector<Capability> needs = {}) {
  return {"Stub.Case", {"envelope.reply"}, "A claim.", std::move(needs), std::move(body)};
}

void call_noop(Case& test) {
  Client client = test.client();
  test.expect_equal(client.call<std::string>(RequestType::kNoop), std::string("OK"), "NOOP");
}

void send_poison(Case& test) {
  Client client = test.client();
  client.send_frames({{0x01}, {0x63}});
  client.expect_nothing("an unknown type");
}

// One run against a stub with the given flaws.
struct StubRun {
  explicit StubRun(StubServer::Flaws flaws, RunSettings settings = patient())
      : stub(flaws),
        context(registry_0_4_5(), settings),
        server(ServerUnderTest::attached(stub.endpoint())),
        judge(context, server, capabilities) {
    context.set_endpoint(stub.endpoint());
  }

  StubServer stub;
  RunContext context;
  ServerUnderTest server;
  Capabilities capabilities;
  Judge judge;
};

TEST(Judge, PassesARightServer) {
  StubRun run({});
  const CaseResult result = run.judge.judge(spec_of(call_noop));
  EXPECT_EQ(to_string(result.verdict), "PASS");
  EXPECT_FALSE(result.not_run);
  EXPECT_TRUE(result.trace.empty());
  EXPECT_EQ(to_string(run.judge.judge(spec_of(send_poison)).verdict), "PASS");
}

TEST(Judge, SkipsWhatIsMissingAndSaysWhoseLackItIs) {
  StubRun run({});
  CaseResult result = run.judge.judge(spec_of(call_noop, {Capability::kBlendV1}));
  EXPECT_EQ(to_string(result.verdict), "SKIPPED");
  EXPECT_EQ(result.finding.actual, "the server lacks blend-v1");
  result = run.judge.judge(spec_of(call_noop, {Capability::kCudaDevice}));
  EXPECT_EQ(to_string(result.verdict), "SKIPPED");
  EXPECT_EQ(result.finding.actual, "the run plays its engines on no GPU (--device cuda)");
}

TEST(Judge, FindsAWrongResult) {
  StubServer::Flaws flaws;
  flaws.answers_wrong = true;
  StubRun run(flaws);
  const CaseResult result = run.judge.judge(spec_of(call_noop));
  EXPECT_EQ(to_string(result.verdict), "WRONG");
  EXPECT_THAT(result.finding.expected, HasSubstr("OK"));
  EXPECT_THAT(result.finding.actual, HasSubstr("NO"));
  ASSERT_GE(result.trace.size(), 2U);
  EXPECT_TRUE(result.trace[0].sent);
  EXPECT_FALSE(result.trace[1].sent);
}

TEST(Judge, FindsASilentServer) {
  StubServer::Flaws flaws;
  flaws.no_ping = true;
  StubRun run(flaws, impatient());
  const CaseResult result =
      run.judge.judge(spec_of([](Case& test) { test.client().call<bool>(RequestType::kPing); }));
  EXPECT_EQ(to_string(result.verdict), "SILENT");
  EXPECT_THAT(result.finding.expected, HasSubstr("a reply to PING"));
}

TEST(Judge, TakesASwappedUidForSilenceAndSaysWhatCame) {
  StubServer::Flaws flaws;
  flaws.swaps_uid = true;
  StubRun run(flaws, impatient());
  const CaseResult result = run.judge.judge(spec_of(call_noop));
  EXPECT_EQ(to_string(result.verdict), "SILENT");
  EXPECT_THAT(result.finding.actual, HasSubstr("uid=1000000"));
}

TEST(Judge, FindsAFourthFrame) {
  StubServer::Flaws flaws;
  flaws.adds_frame = true;
  StubRun run(flaws);
  const CaseResult result = run.judge.judge(spec_of(call_noop));
  EXPECT_EQ(to_string(result.verdict), "WRONG");
  EXPECT_THAT(result.finding.expected, HasSubstr("at most three frames"));
}

TEST(Judge, FindsASecondReply) {
  StubServer::Flaws flaws;
  flaws.answers_twice = true;
  StubRun run(flaws);
  const CaseResult result = run.judge.judge(spec_of([](Case& test) {
    Client client = test.client();
    const Sent sent = client.send(RequestType::kNoop, {});
    client.reply_to(sent);
    client.expect_silence(sent, "a request that was answered already");
  }));
  EXPECT_EQ(to_string(result.verdict), "WRONG");
}

TEST(Judge, FindsAnAnswerToAnotherClient) {
  StubServer::Flaws flaws;
  flaws.to_last_client = true;
  StubRun run(flaws, impatient());
  const CaseResult result = run.judge.judge(spec_of([](Case& test) {
    Client other = test.client();
    other.send(RequestType::kNoop, {});
    call_noop(test);
  }));
  EXPECT_NE(to_string(result.verdict), "PASS");
}

TEST(Judge, FindsAnAnswerWhereNoneIsDue) {
  StubServer::Flaws flaws;
  flaws.answers_unknown = true;
  StubRun run(flaws);
  const CaseResult result = run.judge.judge(spec_of(send_poison));
  EXPECT_EQ(to_string(result.verdict), "WRONG");
  EXPECT_THAT(result.finding.expected, HasSubstr("no reply to an unknown type"));
}

TEST(Judge, CallsAServerThatDiedOfARefusalDead) {
  StubServer::Flaws flaws;
  flaws.dies_of_poison = true;
  StubRun run(flaws, impatient());
  // The body sees no reply, as it is to be, and does not look further.
  const CaseResult result = run.judge.judge(spec_of([](Case& test) {
    Client client = test.client();
    client.send_frames({{0x01}, {0x63}});
    client.receive(std::chrono::milliseconds(50));
  }));
  EXPECT_EQ(to_string(result.verdict), "DEAD");
  // And a server that nobody can restart is judged no more.
  const CaseResult next = run.judge.judge(spec_of(call_noop));
  EXPECT_TRUE(next.not_run);
  EXPECT_THAT(next.finding.actual, HasSubstr("did not start it"));
}

TEST(Judge, CallsAFenceThatDoesNotComeBackDead) {
  StubServer::Flaws flaws;
  flaws.dies_of_poison = true;
  StubRun run(flaws, impatient());
  EXPECT_EQ(to_string(run.judge.judge(spec_of(send_poison)).verdict), "DEAD");
}

TEST(Judge, LetsDeathOverrideAWrongAnswer) {
  StubServer::Flaws flaws;
  flaws.dies_of_poison = true;
  StubRun run(flaws, impatient());
  const CaseResult result = run.judge.judge(spec_of([&run](Case& test) {
    Client client = test.client();
    client.send_frames({{0x01}, {0x63}});
    while (run.stub.num_requests() < 2) std::this_thread::yield();  // the probe, the poison
    test.wrong("one thing", "another");
  }));
  EXPECT_EQ(to_string(result.verdict), "DEAD");
  EXPECT_THAT(result.finding.actual, HasSubstr("expected one thing, and was another"));
}

TEST(Judge, TellsOfAServerFoundDeadBetweenTwoCases) {
  StubServer::Flaws flaws;
  flaws.noops_until_death = 3;  // probe, call, probe
  StubRun run(flaws, impatient());
  EXPECT_EQ(to_string(run.judge.judge(spec_of(call_noop)).verdict), "PASS");
  EXPECT_TRUE(run.judge.judge(spec_of(call_noop)).not_run);
  ASSERT_EQ(run.judge.late_deaths().size(), 1U);
  EXPECT_THAT(run.judge.late_deaths()[0], HasSubstr("after Stub.Case"));
}

TEST(Judge, SkipsWhatTheServerLacks) {
  StubRun run({});
  const CaseResult result = run.judge.judge(spec_of(call_noop, {Capability::kBlendV2}));
  EXPECT_EQ(to_string(result.verdict), "SKIPPED");
  EXPECT_THAT(result.finding.expected, HasSubstr("blend-v2"));
  run.capabilities.set(Capability::kBlendV2);
  EXPECT_EQ(to_string(run.judge.judge(spec_of(call_noop, {Capability::kBlendV2})).verdict), "PASS");
}

TEST(Judge, TakesOtherExceptionsForItsOwnFault) {
  StubRun run({});
  const CaseResult result =
      run.judge.judge(spec_of([](Case&) { throw std::runtime_error("no memory, say"); }));
  EXPECT_EQ(to_string(result.verdict), "HARNESS");
  EXPECT_THAT(result.finding.actual, HasSubstr("no memory, say"));
  EXPECT_EQ(to_string(run.judge.judge(spec_of([](Case& test) { test.harness("x"); })).verdict),
            "HARNESS");
  EXPECT_EQ(to_string(run.judge.judge(spec_of([](Case& test) { test.device(); })).verdict),
            "HARNESS");
  // A socket that cannot be made is not the server's fault either.
  EXPECT_EQ(to_string(run.judge
                          .judge(spec_of([](Case& test) {
                            test.context().set_endpoint("nonsense://");
                            test.client();
                          }))
                          .verdict),
            "HARNESS");
}

TEST(Judge, SaysAtWhichStepItHappened) {
  StubRun run({});
  const CaseResult result = run.judge.judge(spec_of([](Case& test) {
    test.step("row 3");
    test.wrong("a", "b");
  }));
  EXPECT_EQ(result.finding.note, "row 3");
}

TEST(Judge, RunsNothingAfterTheDeadline) {
  StubRun run({});
  run.context.set_deadline(std::chrono::steady_clock::now());
  EXPECT_TRUE(run.judge.judge(spec_of(call_noop)).not_run);
}

TEST(Judge, GivesUpARunningCaseWhenInterrupted) {
  StubServer::Flaws flaws;
  flaws.no_ping = true;
  StubRun run(flaws, impatient());
  const CaseResult result = run.judge.judge(spec_of([](Case& test) {
    test.context().interrupt();
    test.client().call<bool>(RequestType::kPing);
  }));
  EXPECT_TRUE(result.not_run);
}

TEST(Judge, SeedsEachCaseByItsId) {
  StubRun run({});
  std::vector<std::uint64_t> drawn;
  const auto draw = [&](Case& test) { drawn.push_back(test.random()()); };
  CaseSpec one = spec_of(draw);
  CaseSpec two = spec_of(draw);
  two.id = "Stub.Other";
  run.judge.judge(one);
  run.judge.judge(one);
  run.judge.judge(two);
  ASSERT_EQ(drawn.size(), 3U);
  EXPECT_EQ(drawn[0], drawn[1]);
  EXPECT_NE(drawn[0], drawn[2]);
}

TEST(Judge, GivesStringsThatNobodyElseHas) {
  StubRun run({});
  Case test(run.context);
  const std::string one = test.unique("model");
  EXPECT_THAT(one, testing::StartsWith("model"));
  EXPECT_NE(one, test.unique("model"));
}

TEST(Client, KeepsRepliesThatComeOutOfOrder) {
  StubRun run({});
  Case test(run.context);
  Client client = test.client();
  const Sent noop = client.send(RequestType::kNoop, {});
  const Sent size = client.send(RequestType::kGetChunkSize, {});
  EXPECT_EQ(client.result<Int>(client.reply_to(size)), Int(32));
  EXPECT_EQ(client.unclaimed().size(), 1U);
  EXPECT_EQ(client.result<std::string>(client.reply_to(noop)), "OK");
  EXPECT_TRUE(client.unclaimed().empty());
}

TEST(Client, ReadsNoneAsAMissingFrame) {
  StubRun run({});
  Case test(run.context);
  Client client = test.client();
  EXPECT_EQ(client.call<None>(RequestType::kClear), None{});
  EXPECT_THROW(client.call<Int>(RequestType::kClear), Finding);
  EXPECT_EQ(client.call<OptionalInt>(RequestType::kQueryPrefetchStatus, std::string("x")), Int(0));
}

TEST(Client, FencesWithoutPingWhereThereIsNone) {
  StubServer::Flaws flaws;
  flaws.no_ping = true;
  StubRun run(flaws, impatient());
  run.context.set_ping_answers(false);
  EXPECT_EQ(to_string(run.judge.judge(spec_of(send_poison)).verdict), "PASS");
}

TEST(Capabilities, AreFoundByAsking) {
  StubRun run({});
  const Capabilities found = probe_capabilities(run.context);
  EXPECT_EQ(found.answer(RequestType::kNoop), Answer::kAnswers);
  EXPECT_EQ(found.answer(RequestType::kCbLookupPreComputed), Answer::kSilent);
  EXPECT_EQ(found.answer(RequestType::kClear), Answer::kNotProbed);
  EXPECT_TRUE(found.has(Capability::kLookupHits));
  EXPECT_FALSE(found.has(Capability::kBlendV1));
  EXPECT_FALSE(found.has(Capability::kHostDevice));
  EXPECT_TRUE(found.has("LOOKUP"));
  EXPECT_FALSE(found.has("blend-v2"));
  EXPECT_FALSE(Capabilities::is_name("blend-v3"));
}

TEST(Capabilities, SurviveAServerThatDies) {
  StubServer::Flaws flaws;
  flaws.noops_until_death = 1;
  StubRun run(flaws, impatient());
  const Capabilities found = probe_capabilities(run.context);
  EXPECT_EQ(found.answer(RequestType::kNoop), Answer::kAnswers);
}

}  // namespace
}  // namespace kvc::conformance
