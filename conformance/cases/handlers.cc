// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Handlers: what runs where. SYNC answers leave the loop in the order of the requests; BLOCKING
// work holds up no SYNC answer; one client's STORE and RETRIEVE run in order; clients do not wait
// for each other's mistakes. Judged by the order in which replies come.
#include <fmt/format.h>

#include <chrono>

#include "conformance/cases/lists.h"
#include "conformance/cases/refusals.h"
#include "conformance/cases/stage.h"
#include "conformance/harness/message_text.h"
#include "kvc/device/host_device.h"

namespace kvc::conformance {
namespace {

using Clock = std::chrono::steady_clock;

void expect_in_order(Case& test, Client& client, const std::vector<Sent>& sent) {
  client.fence();
  std::size_t next = 0;
  for (const Reply& reply : client.unclaimed()) {
    if (next == sent.size()) break;
    test.expect(reply.frames.front() == sent[next].uid,
                fmt::format("the reply to request {} of {}", next + 1, sent.size()),
                describe_response(test.registry(), reply.frames));
    ++next;
  }
  test.expect(next == sent.size(), fmt::format("{} replies", sent.size()),
              fmt::format("{} replies", next));
}

void sync_keeps_order(Case& test) {
  Stage stage(test);
  Client client = test.client();
  constexpr RequestType kTypes[] = {RequestType::kNoop, RequestType::kGetChunkSize,
                                    RequestType::kUnregisterKvCache};
  std::vector<Sent> sent;
  for (int i = 0; i < 500; ++i) {
    const RequestType type = kTypes[test.random()() % std::size(kTypes)];
    sent.push_back(client.send(type, stage.valid(type)));
  }
  expect_in_order(test, client, sent);
}

void data_keeps_order(Case& test) {
  Stage stage(test);
  Client client = test.client();
  const Frames store = stage.valid(RequestType::kStore);
  const Frames retrieve = stage.valid(RequestType::kRetrieve);
  std::vector<Sent> sent;
  for (int i = 0; i < 100; ++i)
    sent.push_back(i % 2 == 0 ? client.send(RequestType::kStore, store)
                              : client.send(RequestType::kRetrieve, retrieve));
  for (const Sent& one : {sent.back()}) {
    // All came when the last one has; reply_to keeps those before it.
    const Reply last = client.reply_to(one);
    test.expect(last.has_result(), "a result", describe_response(test.registry(), last.frames));
  }
  sent.pop_back();
  expect_in_order(test, client, sent);
}

// LOOKUPs that take long: a registered model, and many tokens to hash.
struct SlowLookups {
  SlowLookups(Case& of, Stage& stage, std::size_t tokens) : test(of) {
    stage.register_instance();
    const std::vector<Bytes> ids(tokens, msg::integer(100000));
    std::vector<msg::Pair> pairs;
    for (const Field& field : stage.fields(RequestType::kStore, 0)) {
      Bytes value = field.valid;
      if (field.name == "token_ids") value = msg::array(ids);
      if (field.name == "worker_id") value = msg::nil();
      if (field.name == "request_id") value = msg::str(test.unique("slow"));
      pairs.emplace_back(msg::str(field.name), value);
    }
    payloads = {msg::map(pairs), msg::integer(1)};
  }

  Case& test;
  Frames payloads;
};

// Sends the LOOKUPs, and then a NOOP on the same client and one on another; answers how many of the
// LOOKUPs were still to be answered when both NOOPs had been.
int left_when_noops_are_answered(Case& test, Client& looking, Client& other, const Frames& lookup,
                                 int count) {
  for (int i = 0; i < count; ++i) looking.send(RequestType::kLookup, lookup);
  const Sent same = looking.send(RequestType::kNoop, {});
  other.call<std::string>(RequestType::kNoop);
  // The first NOOP stands behind 100 MB of its own client's, which a busy machine may be long in
  // reading: it may wait for as long as replies to LOOKUPs come.
  int answered = 0;
  bool noop = false;
  while (!noop && answered < count) {
    const std::optional<Reply> reply = looking.receive(std::chrono::seconds(30));
    if (!reply) break;
    noop = !reply->frames.empty() && reply->frames[0] == same.uid;
    if (!noop) ++answered;
  }
  if (!noop) looking.reply_to(same);
  // What has come by now is in `looking`'s socket already: take it without waiting.
  while (looking.receive(std::chrono::milliseconds(0))) ++answered;
  for (int i = answered; i < count; ++i)
    test.expect(looking.receive(std::chrono::seconds(30)).has_value(),
                fmt::format("{} replies to LOOKUP", count), fmt::format("{} replies", i));
  return count - answered;
}

// A server whose LOOKUPs are done before a NOOP can be asked has delayed nobody: that is no failure
// either, unless they took long.
void slow_lookups_delay_no_noop(Case& test) {
  Stage stage(test);
  const SlowLookups slow(test, stage, 100000);
  Clock::duration took{};
  for (int round = 0; round < 3; ++round) {
    Client looking = test.client();
    Client other = test.client();
    other.call<std::string>(RequestType::kNoop);
    const Clock::time_point start = Clock::now();
    if (left_when_noops_are_answered(test, looking, other, slow.payloads, 200) > 0) return;
    took = Clock::now() - start;
  }
  test.expect(took < std::chrono::milliseconds(100),
              "NOOP is answered before 200 LOOKUPs of 100,000 tokens are done",
              "three times out of three NOOP was answered last");
}

void waiting_store_holds_up_nobody(Case& test) {
  Stage stage(test);
  Client client = test.client();
  Client other = test.client();
  Frames store = stage.valid(RequestType::kStore);
  ManualHostEvent event(test.device());
  store[3] = msg::bin(event.ipc_handle());
  const Sent waiting = client.send(RequestType::kStore, store);
  for (Client* asking : {&client, &other}) {
    asking->call<bool>(RequestType::kPing);
    asking->call<std::string>(RequestType::kNoop);
    asking->call<Int>(RequestType::kGetChunkSize);
  }
  event.complete();
  client.reply_to(waiting);
}

void mistakes_stay_with_their_maker(Case& test) {
  Stage stage(test);
  Client wrong = test.client();
  Client right = test.client();
  std::vector<Sent> refused;
  std::vector<std::pair<Client*, Sent>> honest;
  for (int i = 0; i < 50; ++i) {
    refused.push_back(wrong.send(RequestType::kLookup, {msg::never_used(), msg::never_used()}));
    honest.emplace_back(&wrong, wrong.send(RequestType::kNoop, {}));
    refused.push_back(wrong.send(RequestType::kEndSession, {msg::integer(1)}));
    honest.emplace_back(&wrong, wrong.send(RequestType::kPing, {}));
    honest.emplace_back(
        &right, right.send(RequestType::kEndSession, stage.valid(RequestType::kEndSession)));
  }
  for (auto& [client, sent] : honest) client->reply_to(sent);
  wrong.expect_silence(refused, "requests that do not decode");
  right.expect_nothing("another client's requests");
}

}  // namespace

void add_handlers_cases(CaseList& list, const Registry&) {
  list.add({.id = "Handlers.SyncRepliesKeepOrder",
            .proves = {"handlers.sync-order"},
            .claim = "500 SYNC requests of one client, pipelined, are answered in their order.",
            .needs = {},
            .body = sync_keeps_order});
  list.add(
      {.id = "Handlers.StoreAndRetrieveKeepOrder",
       .proves = {"handlers.data-order"},
       .claim = "100 STOREs and RETRIEVEs of one client, pipelined, are answered in their order.",
       .needs = {Capability::kDevice},
       .body = data_keeps_order});
  list.add({.id = "Handlers.SlowLookupsDelayNoNoop",
            .proves = {"handlers.blocking-delays-no-sync", "handlers.independent-clients"},
            .claim =
                "Behind 200 LOOKUPs of 100,000 tokens a NOOP of the same client and one of another "
                "are answered before they are done.",
            .needs = {Capability::kDevice},
            .body = slow_lookups_delay_no_noop});
  list.add({.id = "Handlers.AWaitingStoreHoldsUpNobody",
            .proves = {"handlers.store-wait-holds-up-nobody"},
            .claim = "While a STORE waits for its client's event PING, NOOP and GET_CHUNK_SIZE are "
                     "answered.",
            .needs = {Capability::kDevice},
            .body = waiting_store_holds_up_nobody});
  list.add({.id = "Handlers.RefusedRequestsLeaveTheirNeighboursAlone",
            .proves = {"handlers.independent-clients", "typing.refusal-is-silent"},
            .claim =
                "Between requests that do not decode, the same client's and another's good ones "
                "are all answered.",
            .needs = {},
            .body = mistakes_stay_with_their_maker});
}

}  // namespace kvc::conformance
