// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Session: what a request_id remembers, and END_SESSION, which forgets it. That it marks its
// objects as used is in eviction.cc.
#include "conformance/cases/data_cases.h"
#include "conformance/harness/engine_player.h"

namespace kvc::conformance {
namespace {

const std::vector<Capability> kNeeds = {Capability::kDevice};

void ends_twice(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 2));
  const Tokens tokens = player.fresh_chunks(1);
  const Key key = player.key(tokens);
  player.store_ok(key, player.blocks(0));
  player.end_session(key.request_id);
  player.end_session(key.request_id);
  player.end_session(test.unique("never-seen"));
  player.end_session("");
  player.expect_lookup(tokens, Int(1), "after END_SESSION");
}

void end_keeps_locks(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 2));
  const Tokens tokens = player.fresh_chunks(1);
  const Contents contents = player.fill(player.blocks(0), test.random()());
  player.store_ok(player.key(tokens), player.blocks(0));
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(1), "chunks found by LOOKUP");
  player.end_session(key.request_id);
  player.retrieve_ok(key, player.blocks(1), 0, "RETRIEVE after END_SESSION");
  player.expect_contents(player.blocks(1), contents, "RETRIEVE after END_SESSION");
}

void end_forgets(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const std::string id = test.unique("request");
  const Tokens first = player.fresh_chunks(1);
  player.store_ok(player.key(first, id), player.blocks(0));
  player.end_session(id);
  const Tokens second = player.fresh_chunks(1);
  const Contents contents = player.fill(player.blocks(1), test.random()());
  player.store_ok(player.key(second, id), player.blocks(1));
  const Key key = player.key(second, id);
  test.expect_equal(player.lookup(key), Int(1), "chunks found by LOOKUP of the new tokens");
  player.retrieve_ok(key, player.blocks(2));
  player.expect_contents(player.blocks(2), contents, "the new tokens under the old request_id");
}

void reused_for_store(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const std::string id = test.unique("request");
  const Tokens first = player.fresh_chunks(1);
  player.store_ok(player.key(first, id), player.blocks(0));
  const Tokens second = player.fresh_chunks(1);
  const Contents contents = player.fill(player.blocks(1), test.random()());
  player.store_ok(player.key(second, id), player.blocks(1), "STORE of other tokens");
  const Key key = player.key(second);
  test.expect_equal(player.lookup(key), Int(1), "chunks found by LOOKUP of the other tokens");
  player.retrieve_ok(key, player.blocks(2));
  player.expect_contents(player.blocks(2), contents, "the other tokens");
}

void reused_for_retrieve(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const Tokens first = player.fresh_chunks(1);
  const Tokens second = player.fresh_chunks(1);
  player.fill(player.blocks(0), test.random()());
  player.store_ok(player.key(first), player.blocks(0));
  const Contents contents = player.fill(player.blocks(1), test.random()());
  player.store_ok(player.key(second), player.blocks(1));
  const std::string id = test.unique("request");
  for (const Tokens& tokens : {first, second}) {
    test.expect_equal(player.lookup(player.key(tokens, id)), Int(1), "chunks found by LOOKUP");
    player.retrieve_ok(player.key(tokens, id), player.blocks(2), 0,
                       "RETRIEVE under a request_id that is used again");
  }
  player.expect_contents(player.blocks(2), contents, "RETRIEVE of the other tokens");
}

void reused_for_lookup(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 2));
  const std::string id = test.unique("request");
  const Tokens first = player.fresh_chunks(1);
  player.store_ok(player.key(first, id), player.blocks(0));
  test.expect_equal(player.lookup(player.key(first, id)), Int(1), "chunks found by LOOKUP");
  test.expect_equal(player.lookup(player.key(player.fresh_chunks(1), id)), Int(0),
                    "chunks found by LOOKUP of other tokens");
}

void grows(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 8));
  const std::string id = test.unique("request");
  const Tokens tokens = player.fresh_chunks(4);
  const Contents contents = player.fill(player.blocks(0, 4), test.random()());
  // A request that decodes: its tokens grow, and each chunk is stored when it is full.
  for (std::size_t chunk = 0; chunk < 4; ++chunk) {
    Tokens so_far = tokens;
    so_far.resize((chunk + 1) * player.chunk_size());
    player.store_ok(player.key_of(so_far, chunk, chunk + 1, id), player.blocks(chunk));
  }
  player.end_session(id);
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(4), "chunks found by LOOKUP");
  player.retrieve_ok(key, player.blocks(4, 4));
  player.expect_contents(player.blocks(4, 4), contents, "chunks stored one by one");
}

void is_not_the_key(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 3));
  const Tokens tokens = player.fresh_chunks(1);
  const Contents contents = player.fill(player.blocks(0), test.random()());
  player.store_ok(player.key(tokens, test.unique("writer")), player.blocks(0));
  player.fill(player.blocks(1), test.random()());
  player.store_ok(player.key(tokens, test.unique("second-writer")), player.blocks(1));
  const Key key = player.key(tokens, test.unique("reader"));
  test.expect_equal(player.lookup(key), Int(1), "chunks found by another request's LOOKUP");
  player.retrieve_ok(key, player.blocks(2));
  player.expect_contents(player.blocks(2), contents, "another request's RETRIEVE");
}

}  // namespace

void add_session_cases(CaseList& cases) {
  cases.add({"Session.EndsTwice",
             {"session.end-answers"},
             "END_SESSION of a session, again, and of an unknown one is answered; the cache stays.",
             kNeeds,
             ends_twice});
  cases.add({"Session.EndKeepsLocks",
             {"session.end-keeps-locks"},
             "END_SESSION does not release locks.",
             kNeeds,
             end_keeps_locks});
  cases.add({"Session.EndForgets",
             {"session.end-forgets"},
             "After END_SESSION the request_id starts anew with other tokens.",
             kNeeds,
             end_forgets});
  cases.add({"Session.ReusedIdStoresItsTokens",
             {"session.tokens-of-the-message"},
             "STORE under a request_id that was used for other tokens stores the tokens of the "
             "message.",
             kNeeds,
             reused_for_store});
  cases.add({"Session.ReusedIdRetrievesItsTokens",
             {"session.tokens-of-the-message"},
             "RETRIEVE under a request_id that was used for other tokens retrieves the tokens of "
             "the message.",
             kNeeds,
             reused_for_retrieve});
  cases.add({"Session.ReusedIdLooksItsTokensUp",
             {"session.tokens-of-the-message"},
             "LOOKUP under a request_id that was used for other tokens finds nothing of them.",
             kNeeds,
             reused_for_lookup});
  cases.add({"Session.Grows",
             {"session.tokens-of-the-message", "chunk.hash-chain"},
             "A request whose tokens grow stores chunk after chunk.",
             kNeeds,
             grows});
  cases.add({"Session.IsNotPartOfTheKey",
             {"key.request-id"},
             "What one request stored another finds: request_id is no part of the key.",
             kNeeds,
             is_not_the_key});
}

}  // namespace kvc::conformance
