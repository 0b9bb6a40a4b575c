// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Clear: CLEAR drops everything, locked chunks too, and harms nothing that is under way.
#include "conformance/cases/data_cases.h"
#include "conformance/harness/engine_player.h"
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

void expect_serves(Case& test, EnginePlayer& player, const Tokens& tokens, std::size_t place,
                   const std::string& what) {
  const Contents contents = player.fill(player.blocks(place), test.random()());
  player.store_ok(player.key(tokens), player.blocks(place), what + ", STORE");
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(1), what + ", chunks found by LOOKUP");
  player.fill(player.blocks(place), test.random()());
  player.retrieve_ok(key, player.blocks(place), 0, what + ", RETRIEVE");
  player.expect_contents(player.blocks(place), contents, what);
}

void drops_everything(Case& test) {
  EnginePlayer one = registered_player(test, small_shape(test, 4));
  EnginePlayer other = registered_player(test, small_shape(test, 4));
  const Tokens tokens = one.fresh_chunks(2);
  one.store_ok(one.key(tokens), one.blocks(0, 2));
  one.store_ok(one.key(tokens, "", "tenant-a"), one.blocks(0, 2));
  other.store_ok(other.key(tokens), other.blocks(0, 2));
  one.clear();
  one.expect_lookup(tokens, Int(0), "after CLEAR");
  test.expect_equal(one.lookup(tokens, "tenant-a"), Int(0), "chunks of a tenant after CLEAR");
  other.expect_lookup(tokens, Int(0), "of another model after CLEAR");

  Tokens first = tokens;
  first.resize(one.chunk_size());
  expect_serves(test, one, first, 3, "after CLEAR");
}

void drops_locked(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const Tokens tokens = player.fresh_chunks(1);
  player.store_ok(player.key(tokens), player.blocks(0));
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(1), "chunks found by LOOKUP");
  const MemoryImage before = player.image();
  player.clear();
  const TransferResult result = player.retrieve(key, player.blocks(1));
  test.expect(!result.ok, "RETRIEVE of a locked chunk after CLEAR answers False",
              describe(Value(result)));
  player.expect_image(before, "RETRIEVE of a locked chunk after CLEAR");
  player.free_locks(key);
  expect_serves(test, player, tokens, 2, "after CLEAR of a locked chunk");
}

void twice(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  for (int i = 0; i < 3; ++i) {
    player.clear();
    player.clear();
    expect_serves(test, player, player.fresh_chunks(1), 0, "after two CLEARs");
  }
}

void keeps_registrations(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  player.clear();
  const Tokens tokens = player.fresh_chunks(1);
  expect_serves(test, player, tokens, 0, "an instance registered before CLEAR");
}

// A STORE that waits for its event when CLEAR comes; then others take the memory that is free.
void store_in_flight(Case& test) {
  EnginePlayer a = registered_player(test, small_shape(test, 8));
  EnginePlayer b(test, small_shape(test, 8), a.model_name());
  b.register_kv_cache();
  a.clear();

  ManualHostEvent event(test.device());
  const Tokens of_a = a.fresh_chunks(4);
  const Contents contents_of_a = a.fill(a.blocks(0, 4), test.random()());
  const Sent sent = a.send_store(a.key(of_a), a.blocks(0, 4), event.ipc_handle());
  const TransferResult stored = reply_of(test, a, sent, "A's STORE");
  a.clear();

  const Tokens of_b = b.fresh_chunks(4);
  const Contents contents_of_b = b.fill(b.blocks(0, 4), test.random()());
  b.store_ok(b.key(of_b), b.blocks(0, 4), "B's STORE after CLEAR");
  event.complete();
  a.wait_done(stored.event_handle);

  const Key key_of_b = b.key(of_b);
  test.expect_equal(b.lookup(key_of_b), Int(4), "chunks found by B's LOOKUP");
  b.retrieve_ok(key_of_b, b.blocks(4, 4), 0, "B's RETRIEVE");
  b.expect_contents(b.blocks(4, 4), contents_of_b,
                    "B's chunks, after A's STORE from before CLEAR was done");

  // A's chunks are dropped or whole, nothing between.
  const Key key_of_a = a.key(of_a);
  const Int found = a.lookup(key_of_a);
  if (found == Int(4)) {
    a.retrieve_ok(key_of_a, a.blocks(4, 4));
    a.expect_contents(a.blocks(4, 4), contents_of_a, "A's chunks");
  } else {
    test.expect_equal(found, Int(0), "chunks found by A's LOOKUP");
    a.store_ok(a.key(of_a), a.blocks(0, 4), "A's STORE again");
    const Key again = a.key(of_a);
    test.expect_equal(a.lookup(again), Int(4), "chunks found by A's LOOKUP after it stored again");
    a.retrieve_ok(again, a.blocks(4, 4));
    a.expect_contents(a.blocks(4, 4), contents_of_a, "A's chunks, stored again");
  }
}

// A RETRIEVE that was answered True and waits behind a STORE of its instance when CLEAR comes.
void retrieve_in_flight(Case& test) {
  EnginePlayer a = registered_player(test, small_shape(test, 9));
  EnginePlayer b(test, small_shape(test, 8), a.model_name());
  b.register_kv_cache();
  a.clear();

  const Tokens of_a = a.fresh_chunks(4);
  const Contents contents = a.fill(a.blocks(0, 4), test.random()());
  a.store_ok(a.key(of_a), a.blocks(0, 4));
  const Key key = a.key(of_a);
  test.expect_equal(a.lookup(key), Int(4), "chunks found by A's LOOKUP");

  ManualHostEvent event(test.device());
  const Sent store = a.send_store(a.key(a.fresh_chunks(1)), a.blocks(8), event.ipc_handle());
  const Sent retrieve = a.send_retrieve(key, a.blocks(4, 4), a.ready_event());
  const TransferResult stored = reply_of(test, a, store, "A's STORE");
  const TransferResult retrieved = reply_of(test, a, retrieve, "A's RETRIEVE");
  a.clear();
  const Tokens of_b = b.fresh_chunks(8);
  b.fill(b.blocks(0, 8), test.random()());
  b.store_ok(b.key(of_b), b.blocks(0, 8), "B's STORE after CLEAR");
  event.complete();
  a.wait_done(stored.event_handle);
  a.wait_done(retrieved.event_handle);
  a.expect_contents(a.blocks(4, 4), contents,
                    "A's RETRIEVE, answered True before CLEAR, done after it");
}

}  // namespace

void add_clear_cases(CaseList& cases) {
  cases.add({"Clear.DropsEverything",
             {"clear.everything"},
             "After CLEAR nothing of any model or tenant is found, and all can be stored again.",
             kNeeds,
             drops_everything});
  cases.add({"Clear.DropsLockedChunks",
             {"clear.locked"},
             "CLEAR drops locked chunks too; what is stored then is found.",
             kNeeds,
             drops_locked});
  cases.add(
      {"Clear.Twice", {"clear.everything"}, "CLEAR of an empty cache is answered.", kNeeds, twice});
  cases.add({"Clear.KeepsRegistrations",
             {"clear.keeps-registrations"},
             "CLEAR leaves the instances registered.",
             kNeeds,
             keeps_registrations});
  cases.add({"Clear.StoreInFlightCorruptsNothing",
             {"clear.in-flight"},
             "A STORE that is under way when CLEAR comes does not write into chunks stored after "
             "it.",
             kNeeds,
             store_in_flight});
  cases.add({"Clear.RetrieveInFlightIsExact",
             {"clear.in-flight"},
             "A RETRIEVE that was answered True when CLEAR comes still brings the right bytes.",
             kNeeds,
             retrieve_in_flight});
}

}  // namespace kvc::conformance
