// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend, refusals: requests that decode and cannot be served. MUST: never True, no effect, and the
// right request then works. SHOULD: False is said.
#include <functional>

#include "conformance/cases/blend_cases.h"
#include "conformance/harness/blend_player.h"

namespace kvc::conformance {
namespace {

struct Transfer {
  Key key;
  Int instance_id;
  Bytes event;
};

struct Refusal {
  std::string id;
  std::string claim;
  std::string requirement;
  std::function<void(BlendPlayer&, Transfer&)> spoil;
};

void spoil_token(Transfer& transfer, Int token) {
  std::vector<Int> tokens = transfer.key.token_ids.to_vector();
  tokens[1] = token;
  transfer.key.token_ids = IntArray::of(tokens);
}

std::vector<Refusal> refusals() {
  return {
      {"UnregisteredInstance", "an instance that is not registered", "blend.registered",
       [](BlendPlayer&, Transfer& transfer) { transfer.instance_id = Int(0x6b76636f6e68); }},
      {"EventThatDoesNotOpen", "an event that does not open", "blend.bad-event",
       [](BlendPlayer& player, Transfer& transfer) {
         transfer.event = player.ready_event();
         for (std::size_t i = 12; i < transfer.event.size(); ++i) transfer.event[i] = 'z';
       }},
  };
}

std::vector<Refusal> store_refusals() {
  std::vector<Refusal> out = refusals();
  out.push_back({"NegativeToken", "a token of -1", "blend.token-range",
                 [](BlendPlayer&, Transfer& transfer) { spoil_token(transfer, Int(-1)); }});
  out.push_back({"TokenBeyondU32", "a token of 2^32", "blend.token-range",
                 [](BlendPlayer&, Transfer& transfer) {
                   spoil_token(transfer, Int(std::int64_t{1} << 32));
                 }});
  return out;
}

void expect_store_refused(Case& test, const Refusal& refusal, RequestType type) {
  BlendPlayer player = registered_blend_player(test, 4);
  const std::size_t chunk = player.chunk_size();
  const Tokens document = player.document(2);
  Transfer transfer{player.key(document), player.instance_id(), player.ready_event()};
  refusal.spoil(player, transfer);
  const std::string what = std::string(to_string(type)) + " with " + refusal.claim;
  player.expect_never_true(
      player.send_store(transfer.key, 0, transfer.instance_id, transfer.event, type), what);
  player.expect_matches(player.key(document), {}, "after " + what);

  test.step("the right store after the refusal");
  player.fill(test.random()());
  const Bytes contents = player.content(0, 2 * chunk);
  player.store_ok(player.key(document), 0, "the right store", type);
  const Key key = player.key(document);
  const CBMatchResults matches =
      player.expect_matches(key, {{0, 0}, {chunk, chunk}}, "after the right store");
  player.fill(test.random()());
  const Bytes before = player.image();
  player.retrieve_ok(key, matches, 5);
  player.expect_image(player.with(before, 5, contents), "the right store");
}

void expect_retrieve_refused(Case& test, const Refusal& refusal) {
  BlendPlayer player = registered_blend_player(test, 4);
  const Tokens document = player.document(1);
  player.fill(test.random()());
  const Bytes contents = player.chunk_at(0);
  player.store_ok(player.key(document));
  player.fill(test.random()());
  const Bytes before = player.image();
  Transfer transfer{player.key(document), player.instance_id(), player.ready_event()};
  const CBMatchResults matches = player.expect_matches(transfer.key, {{0, 0}}, "of the document");
  refusal.spoil(player, transfer);
  const std::string what = "CB_RETRIEVE_PRE_COMPUTED_V2 with " + refusal.claim;
  player.expect_never_true(
      player.send_retrieve(transfer.key, matches, 3, transfer.instance_id, transfer.event), what);
  player.expect_matches(player.key(player.document(1)), {}, "of what was never stored");
  player.store_ok(player.key(player.document(1)), 0, "another store");  // behind all that is queued
  player.expect_image(before, what);

  test.step("the right retrieve after the refusal");
  const Key key = player.key(document);
  const CBMatchResults again = player.expect_matches(key, {{0, 0}}, "of the document");
  player.retrieve_ok(key, again, 7);
  player.expect_image(player.with(before, 7, contents), "the right retrieve");
}

void expect_false(Case& test, const Refusal& refusal) {
  BlendPlayer player = registered_blend_player(test, 4);
  Transfer transfer{player.key(player.document(1)), player.instance_id(), player.ready_event()};
  refusal.spoil(player, transfer);
  for (const RequestType type : {RequestType::kCbStorePreComputed, RequestType::kCbStoreFinal})
    player.expect_says_false(
        player.send_store(transfer.key, 0, transfer.instance_id, transfer.event, type),
        std::string(to_string(type)) + " with " + refusal.claim);
  test.checked(2);
}

}  // namespace

void add_blend_refusal_cases(CaseList& cases) {
  for (const Refusal& refusal : store_refusals()) {
    cases.add({"Blend.StoreRefuses" + refusal.id,
               {refusal.requirement, "refusal.never-true"},
               "CB_STORE_PRE_COMPUTED with " + refusal.claim + " is refused, and has no effect.",
               kBlendV2Needs,
               [refusal](Case& test) {
                 expect_store_refused(test, refusal, RequestType::kCbStorePreComputed);
               }});
    cases.add({"Blend.StoreFinalRefuses" + refusal.id,
               {refusal.requirement, "refusal.never-true"},
               "CB_STORE_FINAL with " + refusal.claim + " is refused, and has no effect.",
               kBlendV2Needs,
               [refusal](Case& test) {
                 expect_store_refused(test, refusal, RequestType::kCbStoreFinal);
               }});
    cases.add({"Blend.StoreSaysFalseTo" + refusal.id,
               {"blend.says-false"},
               "CB_STORE_* with " + refusal.claim + " is answered with False.",
               kBlendV2Needs,
               [refusal](Case& test) { expect_false(test, refusal); }});
  }
  for (const Refusal& refusal : refusals())
    cases.add(
        {"Blend.RetrieveRefuses" + refusal.id,
         {refusal.requirement, "refusal.never-true"},
         "CB_RETRIEVE_PRE_COMPUTED_V2 with " + refusal.claim + " is refused, and has no effect.",
         kBlendV2Needs,
         [refusal](Case& test) { expect_retrieve_refused(test, refusal); }});
}

}  // namespace kvc::conformance
