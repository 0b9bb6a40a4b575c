// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Events: a transfer waits for the client's event, its reply does not wait for the transfer, and
// the returned event says when it is done. An event that is completed late, by hand, shows all
// three. Handles that do not open are in transfer_refusals.cc.
#include <optional>
#include <string>

#include "conformance/cases/data_cases.h"
#include "conformance/harness/engine_player.h"
#include "conformance/harness/exporter.h"
#include "kvc/device/host_device.h"

namespace kvc::conformance {
namespace {

const std::vector<Capability> kNeeds = {Capability::kDevice};

TransferResult reply_of(Case& test, EnginePlayer& player, const Sent& sent,
                        const std::string& what) {
  auto result = player.client().result<TransferResult>(player.client().reply_to(sent));
  test.expect(result.ok, what + " answers (event, True)", describe(Value(result)));
  return result;
}

void store_waits(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const Tokens tokens = player.fresh_chunks(2);
  ManualHostEvent event(test.device());
  player.fill(player.blocks(0, 2), test.random()());
  const Sent sent = player.send_store(player.key(tokens), player.blocks(0, 2), event.ipc_handle());
  const TransferResult stored = reply_of(test, player, sent, "STORE");
  test.expect(!player.event_completes_within_grace(stored.event_handle),
              "the returned event is not complete while the client's event is not",
              "it is complete");
  player.expect_lookup(tokens, Int(0), "while the client's event is not complete");

  // What counts is what is there when the event completes.
  const Contents contents = player.fill(player.blocks(0, 2), test.random()());
  event.complete();
  player.wait_done(stored.event_handle);
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(2), "chunks found by LOOKUP after the returned event");
  player.retrieve_ok(key, player.blocks(2, 2));
  player.expect_contents(player.blocks(2, 2), contents, "what was stored after the client's event");
}

// As an engine has it: its blocks are written by work that is queued on a stream behind what still
// runs, and the event is recorded behind that.
void store_waits_for_a_stream(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const Tokens tokens = player.fresh_chunks(1);
  const Contents contents = player.fill(player.blocks(1), test.random()());
  const std::shared_ptr<const BlockSpace> space = player.block_space();
  Bytes object(space->layout.chunk_bytes);
  const std::unique_ptr<Stream> stream = test.device().create_stream({});
  const std::shared_ptr<Event> written = test.device().create_event();
  const auto copy = [&](CopyDirection direction, const BlockIds& blocks) {
    stream->copy(space, {ChunkCopy{direction, object.data(), blocks, 0}});
  };
  stream->begin_unit();
  copy(CopyDirection::kBlocksToChunk, player.blocks(1));
  stream->synchronize();
  ManualEvent running(test.device());
  stream->begin_unit();
  stream->wait(running.event());
  copy(CopyDirection::kChunkToBlocks, player.blocks(0));
  stream->record(written);

  const Sent sent = player.send_store(player.key(tokens), player.blocks(0), written->ipc_handle());
  const TransferResult stored = reply_of(test, player, sent, "STORE");
  test.expect(!player.event_completes_within_grace(stored.event_handle),
              "the returned event is not complete while the engine's work still runs",
              "it is complete");
  player.expect_lookup(tokens, Int(0), "while the engine's work still runs");
  running.complete();
  player.wait_done(stored.event_handle);
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(1), "chunks found by LOOKUP after the returned event");
  player.retrieve_ok(key, player.blocks(2));
  player.expect_contents(player.blocks(2), contents, "what the engine's work wrote");
}

void reply_comes_first(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 2));
  const Tokens tokens = player.fresh_chunks(1);
  ManualHostEvent event(test.device());
  const Sent sent = player.send_store(player.key(tokens), player.blocks(0), event.ipc_handle());
  const TransferResult stored = reply_of(test, player, sent, "STORE, before its event completes,");
  // And others are served meanwhile.
  EnginePlayer other = registered_player(test, small_shape(test, 2));
  other.store_ok(other.key(other.fresh_chunks(1)), other.blocks(0), "another instance's STORE");
  event.complete();
  player.wait_done(stored.event_handle);
}

void never_recorded(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 2));
  const Tokens tokens = player.fresh_chunks(1);
  const std::shared_ptr<Event> event = test.device().create_event();
  const Sent sent = player.send_store(player.key(tokens), player.blocks(0), event->ipc_handle());
  player.wait_done(reply_of(test, player, sent, "STORE").event_handle);
  player.expect_lookup(tokens, Int(1), "after a STORE with an event that was never recorded");
}

void source_may_be_overwritten(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  for (int round = 0; round < 8; ++round) {
    const Tokens tokens = player.fresh_chunks(2);
    const Contents contents = player.fill(player.blocks(0, 2), test.random()());
    player.store_ok(player.key(tokens), player.blocks(0, 2));
    player.fill_all(0xee);
    const Key key = player.key(tokens);
    test.expect_equal(player.lookup(key), Int(2), "chunks found by LOOKUP");
    player.retrieve_ok(key, player.blocks(2, 2));
    player.expect_contents(player.blocks(2, 2), contents,
                           "what was there before the source was overwritten");
  }
}

void retrieve_event(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const Tokens tokens = player.fresh_chunks(1);
  const Contents contents = player.fill(player.blocks(0), test.random()());
  player.store_ok(player.key(tokens), player.blocks(0));
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(1), "chunks found by LOOKUP");
  const MemoryImage before = player.image();

  // A STORE that waits holds the instance's work back, and with it the RETRIEVE behind it.
  ManualHostEvent event(test.device());
  const Sent store =
      player.send_store(player.key(player.fresh_chunks(1)), player.blocks(1), event.ipc_handle());
  const Sent retrieve = player.send_retrieve(key, player.blocks(2), player.ready_event());
  const TransferResult stored = reply_of(test, player, store, "STORE");
  const TransferResult retrieved = reply_of(test, player, retrieve, "RETRIEVE behind it");
  if (!player.event_complete(retrieved.event_handle))
    player.expect_image(before, "RETRIEVE whose event is not complete");
  event.complete();
  player.wait_done(retrieved.event_handle);
  player.expect_image(player.with(before, player.blocks(2), contents),
                      "RETRIEVE after its returned event");
  player.wait_done(stored.event_handle);
}

void retrieve_waits(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const Tokens tokens = player.fresh_chunks(1);
  const Contents contents = player.fill(player.blocks(0), test.random()());
  player.store_ok(player.key(tokens), player.blocks(0));
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(1), "chunks found by LOOKUP");
  const MemoryImage before = player.image();

  ManualHostEvent event(test.device());
  const Sent sent = player.send_retrieve(key, player.blocks(2), event.ipc_handle());
  const TransferResult retrieved = reply_of(test, player, sent, "RETRIEVE");
  const bool too_early = player.event_completes_within_grace(retrieved.event_handle);
  const bool untouched = player.image() == before;
  event.complete();
  test.expect(!too_early && untouched,
              "RETRIEVE writes nothing before the client's event is complete",
              untouched ? "its returned event was complete before" : "the target was written");
  player.wait_done(retrieved.event_handle);
  player.expect_image(player.with(before, player.blocks(2), contents),
                      "RETRIEVE after its returned event");
}

void store_then_retrieve(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const Tokens old_tokens = player.fresh_chunks(1);
  const Contents old_contents = player.fill(player.blocks(0), test.random()());
  player.store_ok(player.key(old_tokens), player.blocks(0));

  for (int round = 0; round < 8; ++round) {
    // STORE from blocks that the RETRIEVE right behind it overwrites.
    const Key old_key = player.key(old_tokens);
    test.expect_equal(player.lookup(old_key), Int(1), "chunks found by LOOKUP");
    const Tokens tokens = player.fresh_chunks(1);
    const Contents contents = player.fill(player.blocks(1), test.random()());
    std::optional<ManualHostEvent> late;
    if (round % 2 == 1) late.emplace(test.device());
    const Sent store = player.send_store(player.key(tokens), player.blocks(1),
                                         late ? late->ipc_handle() : player.ready_event());
    const Sent retrieve = player.send_retrieve(old_key, player.blocks(1), player.ready_event());
    const TransferResult stored = reply_of(test, player, store, "STORE");
    const TransferResult retrieved = reply_of(test, player, retrieve, "RETRIEVE");
    if (late) late->complete();
    player.wait_done(stored.event_handle);
    player.wait_done(retrieved.event_handle);
    player.expect_contents(player.blocks(1), old_contents, "the RETRIEVE of the pipeline");

    const Key key = player.key(tokens);
    test.expect_equal(player.lookup(key), Int(1), "chunks found by LOOKUP of what was stored");
    player.retrieve_ok(key, player.blocks(2));
    player.expect_contents(player.blocks(2), contents, "the STORE of the pipeline");
  }
}

void dead_exporter(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 3));
  const Tokens tokens = player.fresh_chunks(1);
  Exporter owner(test, 4096);
  const Bytes handle = owner.event_handle();
  owner.end();
  player.expect_never_true(player.send_store(player.key(tokens), player.blocks(0), handle),
                           "STORE with the handle of an event that is gone");
  player.expect_lookup(tokens, Int(0), "after the STORE that was refused");
  const Contents contents = player.fill(player.blocks(0), test.random()());
  player.store_ok(player.key(tokens), player.blocks(0), "the next good STORE");
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(1), "chunks found by LOOKUP");
  player.retrieve_ok(key, player.blocks(1));
  player.expect_contents(player.blocks(1), contents, "the next good STORE");
}

void returned_events_stay(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 3));
  constexpr int kStores = 200;
  std::vector<Sent> sent;
  sent.reserve(kStores);
  for (int i = 0; i < kStores; ++i)
    sent.push_back(player.send_store(player.key(player.fresh_chunks(1)), player.blocks(0),
                                     player.ready_event()));
  std::vector<Bytes> handles;
  handles.reserve(kStores);
  for (const Sent& one : sent)
    handles.push_back(reply_of(test, player, one, "one of 200 STOREs").event_handle);
  // Opened only when all replies are in, the oldest last.
  for (std::size_t i = handles.size(); i-- > 0;) player.wait_event(handles[i]);
}

void visible_at_once(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 3));
  for (int round = 0; round < 50; ++round) {
    test.step("round " + std::to_string(round));
    const Tokens tokens = player.fresh_chunks(1);
    const Sent sent = player.send_store(player.key(tokens), player.blocks(0), player.ready_event());
    player.wait_event(reply_of(test, player, sent, "STORE").event_handle);
    Key key = player.key(tokens);
    test.expect_equal(player.lookup(key), Int(1), "chunks found as soon as the event is complete");
    const Sent retrieve = player.send_retrieve(key, player.blocks(1), player.ready_event());
    player.wait_event(reply_of(test, player, retrieve, "RETRIEVE").event_handle);
    const Sent again = player.send_retrieve(key, player.blocks(1), player.ready_event());
    const auto second = player.client().result<TransferResult>(player.client().reply_to(again));
    test.expect(!second.ok, "a second RETRIEVE answers False as soon as the event is complete",
                describe(Value(second)));
  }
}

void each_has_its_own(Case& test) {
  EnginePlayer a = registered_player(test, small_shape(test, 4));
  EnginePlayer b(test, small_shape(test, 4), a.model_name());
  b.register_kv_cache();
  const Tokens tokens = a.fresh_chunks(3);
  ManualHostEvent first(test.device());
  ManualHostEvent second(test.device());
  const Sent of_a = a.send_store(a.key_of(tokens, 0, 1), a.blocks(0), first.ipc_handle());
  const Sent of_b = b.send_store(b.key_of(tokens, 1, 3), b.blocks(1, 2), second.ipc_handle());
  const TransferResult stored_a = reply_of(test, a, of_a, "A's STORE");
  const TransferResult stored_b = reply_of(test, b, of_b, "B's STORE");
  Contents contents = a.fill(a.blocks(0), test.random()());
  const Contents more = b.fill(b.blocks(1, 2), test.random()());
  contents.insert(contents.end(), more.begin(), more.end());
  first.complete();
  a.wait_done(stored_a.event_handle);
  a.expect_lookup(tokens, Int(1), "after the first STORE's event alone");
  second.complete();
  b.wait_done(stored_b.event_handle);
  const Key key = a.key(tokens);
  test.expect_equal(a.lookup(key), Int(3), "chunks found by LOOKUP after both");
  a.retrieve_ok(key, a.blocks(0, 3));
  a.expect_contents(a.blocks(0, 3), contents, "both STOREs");
}

}  // namespace

void add_event_cases(CaseList& cases) {
  cases.add({"Events.StoreWaitsForTheClients",
             {"events.store-waits", "events.visible-after", "events.not-visible-before"},
             "STORE reads the blocks only after the client's event, is found only after the "
             "returned one, and holds what was there when the client's event completed.",
             kNeeds,
             store_waits});
  cases.add({"Events.StoreWaitsForWorkOfAStream",
             {"events.store-waits", "events.not-visible-before"},
             "STORE stores what the engine's stream writes into the blocks behind work that still "
             "runs (on a GPU, a kernel), and before the event that it records there.",
             kNeeds,
             store_waits_for_a_stream});
  cases.add(
      {"Events.DoneWhenTheReturnedOneIs",
       {"events.visible-at-once"},
       "As soon as the returned event is complete, what was stored is found, and the locks of "
       "what was retrieved are released.",
       kNeeds,
       visible_at_once});
  cases.add({"Events.ReplyComesBeforeTheCopy",
             {"events.reply-first"},
             "STORE is answered though its event is not complete, and others are served.",
             kNeeds,
             reply_comes_first});
  cases.add({"Events.NeverRecordedIsComplete",
             {"events.never-recorded"},
             "An event that was never recorded is nothing to wait for.",
             kNeeds,
             never_recorded});
  cases.add({"Events.SourceMayBeOverwrittenAfter",
             {"events.source-reuse"},
             "After the returned event the source may be overwritten.",
             kNeeds,
             source_may_be_overwritten});
  cases.add({"Events.RetrievesTellsWhenItIsDone",
             {"events.retrieve-done"},
             "RETRIEVE's data is there after the returned event.",
             kNeeds,
             retrieve_event});
  cases.add({"Events.RetrieveWaitsForTheClients",
             {"events.retrieve-waits"},
             "RETRIEVE writes nothing before the client's event is complete.",
             kNeeds,
             retrieve_waits});
  cases.add({"Events.StoreThenRetrieveRunInOrder",
             {"handlers.data-order", "events.store-waits"},
             "One client's STORE and RETRIEVE, pipelined, run in that order.",
             kNeeds,
             store_then_retrieve});
  cases.add({"Events.GoneFailsThatRequestAlone",
             {"events.bad-handle"},
             "A handle that no longer opens fails its STORE; the next good one works.",
             kNeeds,
             dead_exporter});
  cases.add({"Events.ReturnedOnesStayOpenable",
             {"events.stay-openable"},
             "The returned events of 200 STOREs open after the last reply.",
             kNeeds,
             returned_events_stay});
  cases.add({"Events.EachStoreHasItsOwn",
             {"events.store-waits", "events.visible-after"},
             "Two instances' STOREs with two late events become visible each after its own.",
             kNeeds,
             each_has_its_own});
}

}  // namespace kvc::conformance
