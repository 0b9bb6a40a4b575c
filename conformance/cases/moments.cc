// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Moments: what holds at the very moment when a returned event completes. The other cases wait
// until the server has done what it does right behind it too, which would hide an event that
// completes early.
#include "conformance/cases/near_misses.h"
#include "conformance/harness/engine_player.h"

namespace kvc::conformance {
namespace {

const std::vector<Capability> kNeeds = {Capability::kDevice};
constexpr int kRounds = 8;

TransferResult true_reply(Case& test, EnginePlayer& player, const Sent& sent,
                          const std::string& what) {
  const auto result = player.client().result<TransferResult>(player.client().reply_to(sent));
  test.expect(result.ok, "(event, True) for " + what, describe(Value(result)));
  return result;
}

void source_reused(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 8));
  for (int round = 0; round < kRounds; ++round) {
    const Tokens tokens = player.fresh_chunks(4);
    const Contents contents = player.fill(player.blocks(0, 4), test.random()());
    const TransferResult stored = true_reply(
        test, player,
        player.send_store(player.key(tokens), player.blocks(0, 4), player.ready_event()), "STORE");
    player.wait_event(stored.event_handle);
    player.fill_all(0xee);
    player.wait_done(stored.event_handle);
    const Key key = player.key(tokens);
    test.expect_equal(player.lookup(key), Int(4), "chunks found by LOOKUP");
    player.retrieve_ok(key, player.blocks(4, 4));
    player.expect_contents(player.blocks(4, 4), contents,
                           "what was there before the source was overwritten");
  }
}

void target_is_filled(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 8));
  const Tokens tokens = player.fresh_chunks(4);
  const Contents contents = player.fill(player.blocks(0, 4), test.random()());
  player.store_ok(player.key(tokens), player.blocks(0, 4));
  for (int round = 0; round < kRounds; ++round) {
    const Key key = player.key(tokens);
    test.expect_equal(player.lookup(key), Int(4), "chunks found by LOOKUP");
    player.fill(player.blocks(4, 4), test.random()());
    const TransferResult retrieved = true_reply(
        test, player, player.send_retrieve(key, player.blocks(4, 4), player.ready_event()),
        "RETRIEVE");
    player.wait_event(retrieved.event_handle);
    player.expect_contents(player.blocks(4, 4), contents, "RETRIEVE at its returned event");
    player.wait_done(retrieved.event_handle);
  }
}

}  // namespace

void add_moment_cases(CaseList& cases) {
  cases.add({"Events.SourceMayBeOverwrittenRightAfter",
             {"events.source-reuse"},
             "Blocks that are overwritten in the moment in which a STORE's event completes were "
             "stored as they had been.",
             kNeeds,
             source_reused});
  cases.add({"Events.RetrievedIsThereAtOnce",
             {"events.retrieve-done"},
             "RETRIEVE's data is in its blocks in the moment in which its event completes.",
             kNeeds,
             target_is_filled});
}

}  // namespace kvc::conformance
