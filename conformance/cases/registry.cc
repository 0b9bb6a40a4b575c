// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Registry: each number is the request that the release's table says, with that row's result type.
// Numbers shift between releases, so a server of another one gives itself away here.
#include <fmt/format.h>

#include "conformance/cases/lists.h"
#include "conformance/cases/refusals.h"
#include "conformance/cases/stage.h"
#include "conformance/harness/message_text.h"
#include "kvc/protocol/envelope.h"

namespace kvc::conformance {
namespace {

void expect_result_of_row(Case& test, const Definition& row, const Reply& reply) {
  std::vector<ByteView> frames;
  for (std::size_t i = 2; i < reply.frames.size(); ++i) frames.emplace_back(reply.frames[i]);
  const Result<Value> value = decode_result(row, frames);
  test.expect(
      value.ok(),
      fmt::format("a result of type {} from {}", to_string(row.result), to_string(row.type)),
      fmt::format("{} ({})", describe_response(test.registry(), reply.frames),
                  value.ok() ? "" : value.error().text()));
}

void add_number_case(CaseList& list, const Definition& row) {
  list.add(
      {.id = fmt::format("Registry.{}_AnswersToItsNumber", to_string(row.type)),
       .proves = {"registry.numbers", "registry.result-types", "envelope.echo-type"},
       .claim = fmt::format("Number {}, in any integer encoding, is {} and is answered with {}.",
                            row.number, to_string(row.type), to_string(row.result)),
       .needs = capabilities_of(row.type),
       .body = [row](Case& test) {
         Stage stage(test);
         Client client = test.client();
         const Frames payloads = stage.valid(row.type);
         const auto number = static_cast<std::uint64_t>(row.number);
         for (const Bytes& type_frame : msg::every_width(number)) {
           test.step("type frame " + to_hex(type_frame));
           Frames frames = {msg::integer(3), type_frame};
           frames.insert(frames.end(), payloads.begin(), payloads.end());
           client.send_frames(frames);
           expect_result_of_row(test, row, client.reply_to({frames[0], type_frame, row.type}));
         }
       }});
}

void ask_all_without_payloads(Case& test) {
  Client client = test.client();
  std::vector<Sent> silent;
  std::vector<Sent> answered;
  for (const Definition& row : test.registry().definitions()) {
    const Sent sent = client.send(row.type, {});
    (row.payloads.empty() ? answered : silent).push_back(sent);
  }
  for (const Sent& sent : answered)
    expect_result_of_row(test, *test.registry().find(sent.request_type), client.reply_to(sent));
  client.expect_silence(silent, "requests without the payloads of their rows");
}

void blend_is_all_or_silence(Case& test) {
  Stage stage(test);
  Client client = test.client();
  for (RequestType type : {RequestType::kCbUnregisterKvCache, RequestType::kCbLookupPreComputed,
                           RequestType::kCbLookupPreComputedV2}) {
    test.step(std::string(to_string(type)));
    const Sent sent = client.send(type, stage.valid(type));
    client.fence();
    if (const std::optional<Reply> reply = unclaimed_reply(client, sent))
      expect_result_of_row(test, *test.registry().find(type), *reply);
  }
  test.expect_alive("requests that it may have no handler for");
}

// What clients of other releases mean by a number that is another request here.
void add_renumbering_cases(CaseList& list) {
  list.add({.id = "Registry.Number14IsNoopAndNotCommitRetrieve",
            .proves = {"registry.renumbering"},
            .claim = "14 is NOOP as in 0.4.5; with the payload of 0.4.6's COMMIT_RETRIEVE it is "
                     "nothing.",
            .needs = {},
            .body = [](Case& test) {
              Client client = test.client();
              const Bytes number = msg::integer(14);
              client.send_frames({msg::integer(1), number});
              const Reply reply = client.reply_to({msg::integer(1), number, RequestType::kNoop});
              test.expect_equal(client.result<std::string>(reply), std::string("OK"),
                                "the result of number 14");
              client.send_frames({msg::integer(2), number, msg::str("request")});
              client.expect_nothing("number 14 with a payload");
            }});
  list.add({.id = "Registry.Number19IsNotNoop",
            .proves = {"registry.renumbering"},
            .claim =
                "19, which is NOOP in 0.4.6, is a request with five payloads here: without them "
                "there is no reply.",
            .needs = {},
            .body = [](Case& test) {
              Client client = test.client();
              client.send_frames({msg::integer(1), msg::integer(19)});
              client.expect_nothing("number 19 without payloads");
            }});
  list.add({.id = "Registry.RegisterTakesSixPayloads",
            .proves = {"registry.renumbering", "envelope.payload-count"},
            .claim =
                "The five payloads of 0.4.4's REGISTER_KV_CACHE, without layout hints, register "
                "nothing.",
            .needs = {Capability::kDevice},
            .body = [](Case& test) {
              Stage stage(test);
              Client client = test.client();
              const std::uint64_t id = stage.new_instance_id();
              Frames old = stage.valid(RequestType::kRegisterKvCache);
              old[0] = msg::unsigned_integer(id);
              old.pop_back();
              client.expect_silence(client.send(RequestType::kRegisterKvCache, old),
                                    "REGISTER_KV_CACHE of 0.4.4");
              const Sent store = client.send(RequestType::kStore, stage.store_of(id));
              client.reply_to(client.send(RequestType::kStore, stage.valid(RequestType::kStore)));
              expect_no_success(test, client, {store}, "a STORE for an instance not registered");
            }});
}

}  // namespace

void add_registry_cases(CaseList& list, const Registry& registry) {
  for (const Definition& row : registry.definitions()) add_number_case(list, row);
  list.add(
      {.id = "Registry.OnlyRowsWithoutPayloadsAnswerToNothing",
       .proves = {"registry.payload-types", "registry.release-probe", "envelope.payload-count"},
       .claim = "Asked without payloads, exactly the numbers of CLEAR, GET_CHUNK_SIZE, PING and "
                "NOOP answer, each with its own type: so the table's release is told.",
       .needs = {},
       .body = ask_all_without_payloads});
  list.add({.id = "Registry.BlendRequestsAreAnsweredOrIgnored",
            .proves = {"handlers.missing-is-silence"},
            .claim =
                "A blend request is answered with its row's type, or, where there is no handler, "
                "not at all.",
            .needs = {},
            .body = blend_is_all_or_silence});
  if (registry.release() == "0.4.5") add_renumbering_cases(list);
}

}  // namespace kvc::conformance
