// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend, locks: CB_LOOKUP_PRE_COMPUTED_V2 takes one of each chunk that it answers, and RETRIEVE,
// FREE_LOOKUP_LOCKS and END_SESSION give them back. A lock is seen by the retrieve that it allows.
#include "conformance/cases/blend_cases.h"
#include "conformance/harness/blend_player.h"

namespace kvc::conformance {
namespace {

Tokens stored_document(BlendPlayer& player, std::size_t num_chunks) {
  Tokens document = player.document(num_chunks);
  player.store_ok(player.key(document));
  return document;
}

std::vector<MatchPlace> in_place(const BlendPlayer& player, std::size_t num_chunks) {
  std::vector<MatchPlace> places;
  for (std::size_t i = 0; i < num_chunks; ++i)
    places.push_back({i * player.chunk_size(), i * player.chunk_size()});
  return places;
}

void expect_retrieves(Case& test, BlendPlayer& player, const Key& key,
                      const CBMatchResults& matches, int expected, const std::string& what) {
  int count = 0;
  while (count <= expected && player.retrieve(key, matches).ok) ++count;
  test.expect_equal(Int(count), Int(expected), "retrieves that are True, " + what);
}

void one_a_lookup(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const Tokens document = stored_document(player, 2);
  const Key key = player.key(document);
  CBMatchResults matches;
  for (int i = 0; i < 3; ++i)
    matches = player.expect_matches(key, in_place(player, 2), "of the document");
  expect_retrieves(test, player, key, matches, 3, "after three lookups");
}

void without_lookup(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const Tokens document = stored_document(player, 1);
  const Key key = player.key(document);
  const CBMatchResults matches = player.expect_matches(key, {{0, 0}}, "of the document");
  player.retrieve_ok(key, matches);
  player.stamp(3);
  const Bytes before = player.image();
  const TransferResult again = player.retrieve(key, matches);
  test.expect(!again.ok, "False for a match that is no longer locked", describe(Value(again)));
  player.expect_image(before, "the retrieve of a match that is no longer locked");
}

void end_session_releases(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const Tokens document = stored_document(player, 2);
  const Key key = player.key(document);
  const CBMatchResults matches = player.expect_matches(key, in_place(player, 2), "of the document");
  player.expect_matches(key, in_place(player, 2), "of the document again");
  player.end_session(key.request_id);
  expect_retrieves(test, player, key, matches, 0, "after END_SESSION of the request");
  player.expect_matches(player.key(document), in_place(player, 2), "for another request");
}

void end_session_of_another(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const Tokens document = stored_document(player, 2);
  const Key key = player.key(document);
  const CBMatchResults matches = player.expect_matches(key, in_place(player, 2), "of the document");
  const Key other = player.key(document);
  player.expect_matches(other, in_place(player, 2), "of the document for another request");
  // What the other holds is spent, so that its end has nothing to give back.
  player.retrieve_ok(other, matches);
  player.end_session(other.request_id);
  expect_retrieves(test, player, key, matches, 1, "after END_SESSION of another request");
}

// A document that is asked for from its beginning has the names that FREE_LOOKUP_LOCKS computes.
void free_releases(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const std::size_t chunk = player.chunk_size();
  const Tokens document = stored_document(player, 3);
  Key key = player.key(document);
  const CBMatchResults matches = player.expect_matches(key, in_place(player, 3), "of the document");
  key.end = Int(2 * chunk);
  player.free_locks(key);
  expect_retrieves(test, player, key, {matches[0]}, 0, "of the first chunk, after FREE");
  expect_retrieves(test, player, key, {matches[1]}, 0, "of the second chunk, after FREE");
  expect_retrieves(test, player, key, {matches[2]}, 1, "of the third, which was not freed");
}

// The failing request spends at most the lock that is its own.
void failed_retrieve_steals_nothing(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const Tokens document = stored_document(player, 1);
  const Key key = player.key(document);
  const CBMatchResults matches = player.expect_matches(key, {{0, 0}}, "of the document");
  const Key other = player.key(document);
  CBMatchResults with_a_miss =
      player.expect_matches(other, {{0, 0}}, "of the document for another request");
  with_a_miss.push_back(with_a_miss.front());
  with_a_miss.back().hash = Bytes(32, 0x55);
  const TransferResult failed = player.retrieve(other, with_a_miss);
  test.expect(!failed.ok, "False for a match that was never stored", describe(Value(failed)));
  expect_retrieves(test, player, key, matches, 1,
                   "of one request, after another's retrieve has failed");
}

// A chunk that only one of two workers has is not found, and nothing of it stays locked.
void partial_chunk_locks_nothing(Case& test) {
  BlendPlayer player(test, blend_shape(test, 2), test.unique("blend"), Int(2));
  player.register_buffer();
  const Tokens document = player.document(1);
  Key key = player.key(document);
  player.store_ok(key, 0, "CB_STORE_PRE_COMPUTED of worker 0");
  player.expect_matches(key, {}, "of a chunk that worker 1 has not stored");
  key.worker_id = 1;
  player.store_ok(key, 0, "CB_STORE_PRE_COMPUTED of worker 1");
  // The hash of the chunk: that of a world of one is the same.
  BlendPlayer alone(test, blend_shape(test, 1), player.model_name());
  alone.register_buffer();
  alone.store_ok(alone.key(document));
  const CBMatchResults matches =
      alone.expect_matches(alone.key(document), {{0, 0}}, "of the same chunk in a world of one");
  key.worker_id = 0;
  expect_retrieves(test, player, key, matches, 0, "of worker 0, for whom nothing was found");
}

void one_for_each_worker(Case& test) {
  BlendPlayer player(test, blend_shape(test, 2), test.unique("blend"), Int(2));
  player.register_buffer();
  const Tokens document = player.document(2);
  Key key = player.key(document);
  for (const int worker : {1, 0}) {
    key.worker_id = worker;
    player.store_ok(key, 0, "CB_STORE_PRE_COMPUTED of worker " + std::to_string(worker));
  }
  const CBMatchResults matches =
      player.expect_matches(key, in_place(player, 2), "of what both workers stored");
  for (const int worker : {0, 1}) {
    key.worker_id = worker;
    expect_retrieves(test, player, key, matches, 1, "of worker " + std::to_string(worker));
  }
}

}  // namespace

void add_blend_lock_cases(CaseList& cases) {
  cases.add({"Blend.LookupTakesALock",
             {"blend.lookup-locks", "blend.retrieve-releases"},
             "After three lookups three retrieves are True, and the fourth is not.",
             kBlendV2Needs,
             one_a_lookup});
  cases.add({"Blend.RetrieveNeedsALock",
             {"blend.retrieve-releases", "blend.retrieve-untouched"},
             "A match whose lock is spent is not retrieved, and nothing is written.",
             kBlendV2Needs,
             without_lookup});
  cases.add({"Blend.EndSessionReleasesLocks",
             {"blend.end-releases"},
             "END_SESSION gives back the locks of matches that were never retrieved.",
             kBlendV2Needs,
             end_session_releases});
  cases.add({"Blend.EndSessionKeepsOthersLocks",
             {"blend.locks-own"},
             "END_SESSION of one request leaves the locks of another.",
             kBlendV2Needs,
             end_session_of_another});
  cases.add({"Blend.FreeReleasesLocks",
             {"blend.free-releases"},
             "FREE_LOOKUP_LOCKS gives back the locks of the chunks in its range.",
             kBlendV2Needs,
             free_releases});
  cases.add({"Blend.FailedRetrieveStealsNoLock",
             {"blend.locks-own"},
             "A retrieve that fails leaves the locks of another request.",
             kBlendV2Needs,
             failed_retrieve_steals_nothing});
  cases.add({"Blend.PartialChunkLocksNothing",
             {"blend.lookup-locks"},
             "A chunk that only one worker has stored is not found, and not left locked.",
             kBlendV2Needs,
             partial_chunk_locks_nothing});
  cases.add({"Blend.ALockForEachWorker",
             {"blend.lookup-locks"},
             "With two workers one lookup allows each of them one retrieve.",
             kBlendV2Needs,
             one_for_each_worker});
}

}  // namespace kvc::conformance
