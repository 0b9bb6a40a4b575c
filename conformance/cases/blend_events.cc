// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend, events: when the buffer is read and written, and when what was stored is found.
#include <optional>

#include "conformance/cases/blend_cases.h"
#include "conformance/harness/blend_player.h"
#include "conformance/harness/event_wait.h"
#include "kvc/device/host_device.h"

namespace kvc::conformance {
namespace {

TransferResult answered(Case& test, BlendPlayer& player, const Sent& sent,
                        const std::string& what) {
  TransferResult result = player.reply_to(sent);
  test.expect(result.ok, what + " answers (event, True)", describe(Value(result)));
  return result;
}

// What is in the buffer when the client's event completes is stored, not what was there before.
void store_waits(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const std::size_t chunk = player.chunk_size();
  const Tokens document = player.document(2);
  player.fill(test.random()());
  ManualHostEvent event(test.device());
  const Sent sent =
      player.send_store(player.key(document), 1, player.instance_id(), event.ipc_handle());
  const TransferResult stored =
      answered(test, player, sent, "CB_STORE_PRE_COMPUTED whose event is not complete");
  test.expect(!event_completes_within_grace(test, stored.event_handle),
              "the returned event waits for the client's", "it is complete");
  player.fill(test.random()());
  const Bytes contents = player.content(1, 2 * chunk);
  event.complete();
  player.wait_done(stored.event_handle);
  player.fill(test.random()());
  const Bytes before = player.image();
  const Key key = player.key(document);
  const CBMatchResults matches =
      player.expect_matches(key, {{0, 0}, {chunk, chunk}}, "after the returned event");
  player.retrieve_ok(key, matches, 4);
  player.expect_image(player.with(before, 4, contents),
                      "what was in the buffer when the client's event completed");
}

// Others are served while a store waits.
void reply_comes_first(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  BlendPlayer other(test, blend_shape(test, 2), player.model_name());
  other.register_buffer();
  ManualHostEvent event(test.device());
  const Sent sent = player.send_store(player.key(player.document(1)), 0, player.instance_id(),
                                      event.ipc_handle());
  const TransferResult stored =
      answered(test, player, sent, "CB_STORE_PRE_COMPUTED whose event is not complete");
  const Tokens document = other.document(1);
  other.store_ok(other.key(document), 0, "another instance's CB_STORE_PRE_COMPUTED meanwhile");
  other.expect_matches(other.key(document), {{0, 0}}, "of another instance's document meanwhile");
  event.complete();
  player.wait_done(stored.event_handle);
}

void not_before_and_then(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  const Tokens document = player.document(1);
  player.fill(test.random()());
  const Bytes contents = player.chunk_at(0);
  ManualHostEvent event(test.device());
  const Sent sent =
      player.send_store(player.key(document), 0, player.instance_id(), event.ipc_handle());
  const TransferResult stored = answered(test, player, sent, "CB_STORE_PRE_COMPUTED");
  player.expect_matches(player.key(document), {}, "of a chunk that is not stored yet");
  event.complete();
  player.wait_done(stored.event_handle);
  const Key key = player.key(document);
  const CBMatchResults matches = player.expect_matches(
      key, {{0, 0}}, "after the returned event, of a chunk that was asked for too early before");
  player.stamp(1);
  const Bytes before = player.image();
  player.retrieve_ok(key, matches, 1);
  player.expect_image(player.with(before, 1, contents), "the chunk");
}

void retrieve_waits(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const Tokens document = player.document(1);
  player.fill(test.random()());
  const Bytes contents = player.chunk_at(0);
  player.store_ok(player.key(document));
  const Key key = player.key(document);
  const CBMatchResults matches = player.expect_matches(key, {{0, 0}}, "of the document");
  const Bytes before = player.image();
  const std::size_t to = player.chunk_size() + 1;
  ManualHostEvent event(test.device());
  const Sent sent =
      player.send_retrieve(key, matches, Int(to), player.instance_id(), event.ipc_handle());
  const TransferResult retrieved =
      answered(test, player, sent, "a retrieve whose event is not complete");
  const bool too_early = event_completes_within_grace(test, retrieved.event_handle);
  const bool untouched = player.image() == before;
  event.complete();
  test.expect(!too_early && untouched,
              "a retrieve writes nothing before the client's event is complete",
              untouched ? "its returned event was complete before" : "the buffer was written");
  player.wait_done(retrieved.event_handle);
  player.expect_image(player.with(before, to, contents), "the retrieve after its returned event");
}

void retrieve_without_event(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const Tokens document = player.document(1);
  player.fill(test.random()());
  const Bytes contents = player.chunk_at(0);
  player.store_ok(player.key(document));
  const Key key = player.key(document);
  const CBMatchResults matches = player.expect_matches(key, {{0, 0}}, "of the document");
  const Bytes before = player.image();
  const std::size_t to = player.chunk_size() + 1;
  const Sent sent = player.send_retrieve(key, matches, Int(to), player.instance_id(), {});
  player.wait_done(answered(test, player, sent, "a retrieve with no event").event_handle);
  player.expect_image(player.with(before, to, contents), "the retrieve with no event");
}

void done_when_the_event_is(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  for (int round = 0; round < 10; ++round) {
    test.step("round " + std::to_string(round));
    const Tokens document = player.document(1);
    const Sent store =
        player.send_store(player.key(document), 0, player.instance_id(), player.ready_event());
    wait_event(test, answered(test, player, store, "CB_STORE_PRE_COMPUTED").event_handle);
    const Key key = player.key(document);
    const CBMatchResults matches =
        player.expect_matches(key, {{0, 0}}, "as soon as the event is complete");
    const Sent first =
        player.send_retrieve(key, matches, 0, player.instance_id(), player.ready_event());
    wait_event(test, answered(test, player, first, "the retrieve").event_handle);
    const TransferResult second = player.reply_to(
        player.send_retrieve(key, matches, 0, player.instance_id(), player.ready_event()));
    test.expect(!second.ok, "a second retrieve answers False as soon as the event is complete",
                describe(Value(second)));
  }
}

}  // namespace

void add_blend_event_cases(CaseList& cases) {
  cases.add({"Blend.StoreWaitsForTheClientsEvent",
             {"blend.store-event"},
             "The buffer is read only after the client's event, and the returned one comes then.",
             kBlendV2Needs,
             store_waits});
  cases.add({"Blend.StoreRepliesBeforeTheCopy",
             {"blend.reply-first"},
             "A store is answered though its event is not complete, and others are served.",
             kBlendV2Needs,
             reply_comes_first});
  cases.add({"Blend.FoundOnlyWhenItIsStored",
             {"blend.only-stored", "blend.lookup-changes-nothing"},
             "A chunk is not found before its store is done, and found then, asked for early or "
             "not.",
             kBlendV2Needs,
             not_before_and_then});
  cases.add({"Blend.RetrieveWaitsForTheClientsEvent",
             {"blend.retrieve-event"},
             "A retrieve writes nothing before the client's event is complete.",
             kBlendV2Needs,
             retrieve_waits});
  cases.add({"Blend.RetrieveTakesNoEvent",
             {"blend.retrieve-no-event"},
             "An empty event handle of a retrieve means that there is nothing to wait for.",
             kBlendV2Needs,
             retrieve_without_event});
  cases.add({"Blend.DoneWhenTheReturnedEventIs",
             {"blend.visible-at-once"},
             "As soon as the returned event is complete, what was stored is found, and the locks "
             "of what was retrieved are released.",
             kBlendV2Needs,
             done_when_the_event_is});
}

}  // namespace kvc::conformance
