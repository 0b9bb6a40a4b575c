// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Locks: how many LOOKUP takes, and who gives them back. A lock is seen by the RETRIEVE that it
// allows.
#include "conformance/cases/data_cases.h"
#include "conformance/harness/engine_player.h"

namespace kvc::conformance {
namespace {

const std::vector<Capability> kNeeds = {Capability::kDevice};

Contents stored(Case& test, EnginePlayer& player, const Tokens& tokens) {
  const std::size_t num_chunks = tokens.size() / player.chunk_size();
  Contents contents = player.fill(player.blocks(0, num_chunks), test.random()());
  player.store_ok(player.key(tokens), player.blocks(0, num_chunks));
  return contents;
}

// As many RETRIEVEs of `key` as are True, up to `most`.
int num_retrieves(EnginePlayer& player, const Key& key, std::size_t place, int most) {
  const std::size_t chunk = player.chunk_size();
  const std::size_t num_chunks =
      (key.end.as_u64().value_or(0) - key.start.as_u64().value_or(0)) / chunk;
  for (int i = 0; i < most; ++i)
    if (!player.retrieve(key, player.blocks(place, num_chunks)).ok) return i;
  return most;
}

void expect_retrieves(Case& test, EnginePlayer& player, const Key& key, std::size_t place,
                      int expected, const std::string& what) {
  test.expect_equal(Int(num_retrieves(player, key, place, expected + 1)), Int(expected),
                    "RETRIEVEs that are True, " + what);
}

void one_a_lookup(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const Tokens tokens = player.fresh_chunks(2);
  stored(test, player, tokens);
  const std::string id = test.unique("request");
  for (int i = 0; i < 3; ++i) player.lookup(player.key(tokens, id));
  expect_retrieves(test, player, player.key(tokens, id), 2, 3, "after three LOOKUPs");
}

void tp_size(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const Tokens tokens = player.fresh_chunks(2);
  const Contents contents = stored(test, player, tokens);
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key, Int(4)), Int(2), "chunks found by LOOKUP");
  expect_retrieves(test, player, key, 2, 4, "after a LOOKUP with tp_size 4 and world_size 1");
  player.expect_contents(player.blocks(2, 2), contents, "the last of them");
}

void tp_size_of_the_world(Case& test) {
  EnginePlayer player(test, small_shape(test, 4), test.unique("model"), Int(4));
  player.register_kv_cache();
  const Tokens tokens = player.fresh_chunks(1);
  Key key = player.key(tokens);
  for (int worker = 0; worker < 4; ++worker) {
    key.worker_id = worker;
    player.store_ok(key, player.blocks(0), "STORE of worker " + std::to_string(worker));
  }
  test.expect_equal(player.lookup(key, Int(4)), Int(1), "chunks found by LOOKUP");
  for (int worker = 0; worker < 4; ++worker) {
    key.worker_id = worker;
    expect_retrieves(test, player, key, 1, 1, "of worker " + std::to_string(worker));
  }
}

void gap_locks_nothing(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 6));
  const Tokens tokens = player.fresh_chunks(3);
  for (const std::size_t chunk : {0U, 2U})
    player.store_ok(player.key_of(tokens, chunk, chunk + 1), player.blocks(chunk));
  const std::string id = test.unique("request");
  test.expect_equal(player.lookup(player.key(tokens, id)), Int(1), "chunks found by LOOKUP");
  expect_retrieves(test, player, player.key_of(tokens, 2, 3, id), 3, 0, "behind the gap");
  expect_retrieves(test, player, player.key_of(tokens, 0, 1, id), 3, 1, "before the gap");
}

void partial_row_locks_nothing(Case& test) {
  EnginePlayer player(test, small_shape(test, 4), test.unique("model"), Int(2));
  player.register_kv_cache();
  const Tokens tokens = player.fresh_chunks(2);
  Key key = player.key(tokens);
  player.store_ok(key, player.blocks(0, 2), "STORE of worker 0");
  key = player.key_of(tokens, 0, 1);
  key.worker_id = 1;
  player.store_ok(key, player.blocks(0), "STORE of worker 1");
  const std::string id = test.unique("request");
  test.expect_equal(player.lookup(player.key(tokens, id)), Int(1), "chunks found by LOOKUP");
  expect_retrieves(test, player, player.key_of(tokens, 1, 2, id), 2, 0,
                   "of the chunk that worker 1 lacks");
  expect_retrieves(test, player, player.key_of(tokens, 0, 1, id), 2, 1,
                   "of the chunk that both have");
}

void free_range(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 16));
  const Tokens tokens = player.fresh_chunks(8);
  const Contents contents = stored(test, player, tokens);
  const std::string id = test.unique("request");
  test.expect_equal(player.lookup(player.key(tokens, id)), Int(8), "chunks found by LOOKUP");
  player.free_locks(player.key_of(tokens, 0, 4, id));
  expect_retrieves(test, player, player.key_of(tokens, 0, 4, id), 8, 0, "of the four freed");
  player.retrieve_ok(player.key_of(tokens, 4, 8, id), player.blocks(12, 4), 0,
                     "RETRIEVE of the four not freed");
  const auto half = contents.begin() + static_cast<std::ptrdiff_t>(contents.size() / 2);
  player.expect_contents(player.blocks(12, 4), Contents(half, contents.end()),
                         "the four not freed");
}

void free_middle(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 6));
  const Tokens tokens = player.fresh_chunks(3);
  stored(test, player, tokens);
  const std::string id = test.unique("request");
  player.lookup(player.key(tokens, id));
  player.free_locks(player.key_of(tokens, 1, 2, id));
  for (const auto& [chunk, expected] : {std::pair(0, 1), std::pair(1, 0), std::pair(2, 1)})
    expect_retrieves(test, player,
                     player.key_of(tokens, static_cast<std::size_t>(chunk),
                                   static_cast<std::size_t>(chunk) + 1, id),
                     3, expected, "of chunk " + std::to_string(chunk));
}

void free_gives_one_back(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 2));
  const Tokens tokens = player.fresh_chunks(1);
  stored(test, player, tokens);
  const std::string id = test.unique("request");
  for (int i = 0; i < 3; ++i) player.lookup(player.key(tokens, id));
  player.free_locks(player.key(tokens, id));
  expect_retrieves(test, player, player.key(tokens, id), 1, 2, "after three LOOKUPs and a FREE");
}

void free_with_tp_size(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 2));
  const Tokens tokens = player.fresh_chunks(1);
  stored(test, player, tokens);
  const std::string id = test.unique("request");
  player.lookup(player.key(tokens, id), Int(4));
  player.lookup(player.key(tokens, id), Int(1));
  player.free_locks(player.key(tokens, id), Int(4));
  expect_retrieves(test, player, player.key(tokens, id), 1, 1,
                   "after 4 + 1 locks and a FREE with tp_size 4");
}

void free_too_often(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 2));
  const Tokens tokens = player.fresh_chunks(1);
  const Contents contents = stored(test, player, tokens);
  for (int i = 0; i < 5; ++i) player.free_locks(player.key(tokens));
  player.free_locks(player.key(tokens), Int(4));
  player.free_locks(player.key(player.fresh_chunks(1)));
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(1), "chunks found by LOOKUP");
  expect_retrieves(test, player, key, 1, 1, "after a LOOKUP behind six FREEs");
  player.expect_contents(player.blocks(1), contents, "what is retrieved");
}

void free_steals_no_lock(Case& test) {
  EnginePlayer a = registered_player(test, small_shape(test, 2));
  EnginePlayer b(test, small_shape(test, 2), a.model_name());
  b.register_kv_cache();
  const Tokens tokens = a.fresh_chunks(1);
  const Contents contents = stored(test, a, tokens);
  const Key of_a = a.key(tokens);
  const Key of_b = b.key(tokens);
  test.expect_equal(a.lookup(of_a), Int(1), "chunks found by A's LOOKUP");
  test.expect_equal(b.lookup(of_b), Int(1), "chunks found by B's LOOKUP");
  for (int i = 0; i < 5; ++i) b.free_locks(of_b);
  a.retrieve_ok(of_a, a.blocks(1), 0, "A's RETRIEVE after B's five FREEs");
  a.expect_contents(a.blocks(1), contents, "A's RETRIEVE after B's five FREEs");
}

void failed_retrieve_steals_no_lock(Case& test) {
  EnginePlayer a = registered_player(test, small_shape(test, 4));
  EnginePlayer b(test, small_shape(test, 4), a.model_name());
  b.register_kv_cache();
  const Tokens tokens = a.fresh_chunks(2);
  const Contents contents = stored(test, a, tokens);
  const Key of_a = a.key(tokens);
  const Key of_b = b.key(tokens);
  test.expect_equal(a.lookup(of_a), Int(2), "chunks found by A's LOOKUP");
  test.expect_equal(b.lookup(of_b), Int(2), "chunks found by B's LOOKUP");
  BlockIds too_few = b.blocks(2, 2);
  too_few.pop_back();
  b.expect_never_true(b.send_retrieve(of_b, too_few, b.ready_event()),
                      "B's RETRIEVE with a block id too few");
  a.retrieve_ok(of_a, a.blocks(2, 2), 0, "A's RETRIEVE after B's has failed");
  a.expect_contents(a.blocks(2, 2), contents, "A's RETRIEVE after B's has failed");
}

void unregistered_retrieve_keeps_locks(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  EnginePlayer stranger(test, small_shape(test, 4), player.model_name());
  const Tokens tokens = player.fresh_chunks(1);
  const Contents contents = stored(test, player, tokens);
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(1), "chunks found by LOOKUP");
  player.expect_never_true(
      player.send_retrieve(key, stranger.instance_id(), player.blocks(1), player.ready_event()),
      "RETRIEVE of an instance that never registered");
  expect_retrieves(test, player, key, 1, 1, "by the right instance after that");
  player.expect_contents(player.blocks(1), contents, "the right instance's RETRIEVE");
}

void locked_is_not_overwritten(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const Tokens tokens = player.fresh_chunks(1);
  const Contents contents = stored(test, player, tokens);
  const Key key = player.key(tokens);
  player.lookup(key);
  player.fill(player.blocks(2), test.random()());
  player.store_ok(player.key(tokens), player.blocks(2), "STORE of a locked chunk");
  player.retrieve_ok(key, player.blocks(1));
  player.expect_contents(player.blocks(1), contents, "RETRIEVE after a STORE of a locked chunk");
}

void free_of_no_lock_answers(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const Tokens tokens = player.fresh_chunks(2);
  stored(test, player, tokens);
  const std::string id = test.unique("request");
  player.lookup(player.key(tokens, id));
  Key key = player.key_of(tokens, 1, 1, id);
  player.free_locks(key);  // [chunk, chunk): nothing
  expect_retrieves(test, player, player.key(tokens, id), 2, 1, "after a FREE of an empty range");
}

}  // namespace

void add_lock_cases(CaseList& cases) {
  cases.add({"Locks.OneALookup",
             {"locks.one-a-lookup", "retrieve.releases"},
             "Each LOOKUP takes one lock of each chunk, each RETRIEVE gives one back.",
             kNeeds,
             one_a_lookup});
  cases.add({"Locks.TpSizeOfThem",
             {"locks.tp-size"},
             "With world_size 1 and tp_size 4, four RETRIEVEs succeed and the fifth does not.",
             kNeeds,
             tp_size});
  cases.add({"Locks.TpSizeOfTheWorldIsOne",
             {"locks.tp-size"},
             "With tp_size no larger than world_size, each worker's object has one lock.",
             kNeeds,
             tp_size_of_the_world});
  cases.add({"Locks.NoneBehindAGap",
             {"locks.gap"},
             "LOOKUP locks nothing behind a missing chunk.",
             kNeeds,
             gap_locks_nothing});
  cases.add({"Locks.NoneOfAPartialChunk",
             {"locks.gap", "lookup.all-workers"},
             "LOOKUP leaves no lock on a chunk that only some workers have.",
             kNeeds,
             partial_row_locks_nothing});
  cases.add({"Locks.FreeReleasesItsRange",
             {"locks.free-range"},
             "After LOOKUP of 8 chunks and FREE of the first 4, the other 4 can be retrieved, and "
             "the first not.",
             kNeeds,
             free_range});
  cases.add({"Locks.FreeReleasesTheMiddle",
             {"locks.free-range"},
             "FREE of the middle chunk leaves the locks around it.",
             kNeeds,
             free_middle});
  cases.add({"Locks.FreeGivesOneBack",
             {"locks.free-count"},
             "FREE gives back one lock of three.",
             kNeeds,
             free_gives_one_back});
  cases.add({"Locks.FreeWithTpSizeGivesAllBack",
             {"locks.free-count", "locks.tp-size"},
             "FREE with tp_size 4 gives back four locks.",
             kNeeds,
             free_with_tp_size});
  cases.add(
      {"Locks.FreeTooOftenHarmsNothing",
       {"locks.free-unlocked"},
       "FREE of what is not locked, or not there, is answered; the next LOOKUP locks as ever.",
       kNeeds,
       free_too_often});
  cases.add({"Locks.FreeOfAnEmptyRange",
             {"locks.free-range"},
             "FREE of an empty range is answered and releases nothing.",
             kNeeds,
             free_of_no_lock_answers});
  cases.add({"Locks.FreeStealsNoLock",
             {"locks.free-own"},
             "FREEs of one request, however many, do not release another's lock.",
             kNeeds,
             free_steals_no_lock});
  cases.add({"Locks.FailedRetrieveStealsNoLock",
             {"locks.failed-retrieve"},
             "A RETRIEVE that fails does not release another request's lock.",
             kNeeds,
             failed_retrieve_steals_no_lock});
  cases.add({"Locks.UnregisteredRetrieveKeepsThem",
             {"locks.failed-retrieve", "transfer.registered"},
             "RETRIEVE of an instance that never registered leaves the locks as they are.",
             kNeeds,
             unregistered_retrieve_keeps_locks});
  cases.add({"Locks.StoreDoesNotOverwrite",
             {"store.first-writer", "retrieve.exact"},
             "A STORE of a chunk that is locked for reading changes nothing.",
             kNeeds,
             locked_is_not_overwritten});
}

}  // namespace kvc::conformance
