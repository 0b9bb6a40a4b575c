// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Lookup: what LOOKUP counts. What it locks is in locks.cc, how its answer is read in query.cc.
#include <algorithm>

#include "conformance/cases/data_cases.h"
#include "conformance/harness/engine_player.h"

namespace kvc::conformance {
namespace {

const std::vector<Capability> kNeeds = {Capability::kDevice};

Tokens first_chunks(const EnginePlayer& player, const Tokens& tokens, std::size_t num_chunks) {
  return {tokens.begin(),
          tokens.begin() + static_cast<std::ptrdiff_t>(num_chunks * player.chunk_size())};
}

void leading_run(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 5));
  const Tokens tokens = player.fresh_chunks(5);
  for (const std::size_t chunk : {0U, 1U, 3U, 4U})
    player.store_ok(player.key_of(tokens, chunk, chunk + 1), player.blocks(0));
  player.expect_lookup(tokens, Int(2), "of chunks 0, 1, 3 and 4 out of 5");
  player.store_ok(player.key_of(tokens, 2, 3), player.blocks(0));
  player.expect_lookup(tokens, Int(5), "after the gap was filled");
  player.expect_lookup(first_chunks(player, tokens, 3), Int(3), "of the first three");
}

void every_worker(Case& test) {
  EnginePlayer player(test, tiny_shape(test, 4), test.unique("model"), Int(3));
  player.register_kv_cache();
  const Tokens tokens = player.fresh_chunks(3);
  Key key = player.key(tokens);
  player.store_ok(key, player.blocks(0, 3), "STORE of worker 0");
  player.expect_lookup(tokens, Int(0), "with worker 0's parts alone");
  key = player.key_of(tokens, 0, 2);
  key.worker_id = 2;
  player.store_ok(key, player.blocks(0, 2), "STORE of worker 2");
  player.expect_lookup(tokens, Int(0), "without worker 1's parts");
  key = player.key_of(tokens, 0, 3);
  key.worker_id = 1;
  player.store_ok(key, player.blocks(0, 3), "STORE of worker 1");
  player.expect_lookup(tokens, Int(2), "where worker 2 has two chunks of three");
}

void one_worker(Case& test) {
  EnginePlayer player(test, tiny_shape(test, 4), test.unique("model"), Int(2));
  player.register_kv_cache();
  const Tokens tokens = player.fresh_chunks(4);
  Key key = player.key(tokens);
  key.worker_id = 1;
  player.store_ok(key, player.blocks(0, 4));
  key = player.key(tokens);
  key.worker_id = 1;
  player.client().call<None>(RequestType::kLookup, key, Int(1));
  test.expect_equal(player.query(key.request_id), Int(4), "chunks found by LOOKUP of worker 1");
  key = player.key(tokens);
  player.client().call<None>(RequestType::kLookup, key, Int(1));
  test.expect_equal(player.query(key.request_id), Int(0), "chunks found by LOOKUP of worker 0");
}

void ignores_start_and_end(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 4));
  const Tokens tokens = player.fresh_chunks(4);
  player.store_ok(player.key(tokens), player.blocks(0, 4));
  const std::int64_t chunk = static_cast<std::int64_t>(player.chunk_size());
  for (const auto& [start, end] : std::vector<std::pair<Int, Int>>{{0, 0},
                                                                   {0, chunk},
                                                                   {2 * chunk, 4 * chunk},
                                                                   {1, 2},
                                                                   {5, 3},
                                                                   {-7, -1},
                                                                   {0, 100 * chunk},
                                                                   {0, std::uint64_t{1} << 63}}) {
    test.step("start " + start.to_string() + ", end " + end.to_string());
    Key key = player.key(tokens);
    key.start = start;
    key.end = end;
    test.expect_equal(player.lookup(key), Int(4), "chunks found by LOOKUP");
  }
}

void unregistered_model(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 4));
  const Tokens tokens = player.fresh_chunks(2);
  player.store_ok(player.key(tokens), player.blocks(0, 2));
  Key key = player.key(tokens);
  key.model_name = test.unique("nobody's-model");
  test.expect_equal(player.lookup(key), Int(0), "chunks found by LOOKUP of an unknown model");
  key = player.key(tokens);
  key.world_size = 2;
  test.expect_equal(player.lookup(key), Int(0), "chunks found by LOOKUP of an unknown world size");
  player.expect_lookup(tokens, Int(2), "of the model that is registered");
}

void short_prompts(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 4));
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, player.chunk_size() - 1}) {
    test.step(std::to_string(length) + " tokens");
    player.expect_lookup(player.fresh_tokens(length), Int(0), "of less than a chunk");
  }
}

void tokens_that_do_not_fit(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 4));
  for (const Int token : {Int(-1), Int(std::uint64_t{1} << 32), Int(~std::uint64_t{0})}) {
    test.step("token id " + token.to_string());
    Key key = player.key(player.fresh_chunks(2));
    key.worker_id = std::nullopt;
    std::vector<Int> tokens = key.token_ids.to_vector();
    tokens[1] = token;
    key.token_ids = IntArray::of(tokens);
    const Sent sent = player.client().send_values(RequestType::kLookup, key, Int(1));
    player.client().expect_silence(sent, "LOOKUP with a token id that does not fit u32");
    test.expect_equal(player.query(key.request_id), Int(0), "QUERY_PREFETCH_STATUS's result");
  }
}

void salted_and_later(Case& test) {
  // The wait for a STORE's event is what makes it visible, to every client.
  EnginePlayer writer = registered_player(test, tiny_shape(test, 4));
  const Tokens tokens = writer.fresh_chunks(4);
  for (std::size_t chunk = 0; chunk < 4; ++chunk) {
    writer.store_ok(writer.key_of(tokens, chunk, chunk + 1), writer.blocks(chunk));
    Client other = test.client();
    Key key = writer.key(tokens);
    key.worker_id = std::nullopt;
    other.call<None>(RequestType::kLookup, key, Int(1));
    test.expect_equal(writer.query(key.request_id), Int(chunk + 1),
                      "chunks found by another client's LOOKUP");
  }
}

void storing_prefix_of_a_prompt(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 4));
  const Tokens tokens = player.fresh_tokens(4 * player.chunk_size() + 1);
  // `end` says what to store, however many tokens come with the key.
  player.store_ok(player.key_of(tokens, 0, 2), player.blocks(0, 2));
  player.expect_lookup(tokens, Int(2), "of the chunks up to `end`");
  player.store_ok(player.key_of(tokens, 2, 4), player.blocks(0, 2));
  player.expect_lookup(tokens, Int(4), "of all chunks");
}

void very_many_tokens(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 3));
  const Tokens tokens = player.fresh_tokens(131'072);
  player.store_ok(player.key_of(tokens, 0, 3), player.blocks(0, 3));
  player.expect_lookup(tokens, Int(3), "of 131,072 tokens");
}

}  // namespace

void add_lookup_cases(CaseList& cases) {
  cases.add({"Lookup.CountsTheLeadingRun",
             {"lookup.leading-run", "lookup.counts-chunks"},
             "LOOKUP counts the chunks from the first on, up to the first that is missing.",
             kNeeds,
             leading_run});
  cases.add({"Lookup.CountsWhatEveryWorkerHas",
             {"lookup.all-workers"},
             "Without worker_id, LOOKUP counts the chunks that are there for every worker.",
             kNeeds,
             every_worker});
  cases.add({"Lookup.OfOneWorkerCountsItsChunks",
             {"lookup.one-worker"},
             "With worker_id, LOOKUP counts the chunks of that worker.",
             kNeeds,
             one_worker});
  cases.add({"Lookup.IgnoresStartAndEnd",
             {"lookup.ignores-range"},
             "LOOKUP looks for all full chunks, whatever start and end say.",
             kNeeds,
             ignores_start_and_end});
  cases.add({"Lookup.OfAnUnregisteredModelIsZero",
             {"lookup.unregistered-model"},
             "LOOKUP of a model and world size that no instance registered finds 0.",
             kNeeds,
             unregistered_model});
  cases.add({"Lookup.OfLessThanAChunkIsZero",
             {"chunk.full-only"},
             "LOOKUP of less than a chunk is answered, and finds 0.",
             kNeeds,
             short_prompts});
  cases.add({"Lookup.RefusesTokensThatDoNotFit",
             {"chunk.tokens-u32", "refusal.no-effect", "refusal.none-is-silence"},
             "LOOKUP with a token id of -1, 2^32 or 2^64-1 is not answered, and finds nothing.",
             kNeeds,
             tokens_that_do_not_fit});
  cases.add({"Lookup.SeesWhatIsStoredAtOnce",
             {"events.visible-after"},
             "After a STORE's event every client's LOOKUP finds it.",
             kNeeds,
             salted_and_later});
  cases.add({"Lookup.FindsWhatLiesBelowEnd",
             {"store.blocks", "lookup.leading-run"},
             "A STORE stores up to `end`, though its key has more tokens.",
             kNeeds,
             storing_prefix_of_a_prompt});
  cases.add({"Lookup.OfVeryManyTokens",
             {"lookup.leading-run"},
             "LOOKUP of 131,072 tokens is answered.",
             kNeeds,
             very_many_tokens});
}

}  // namespace kvc::conformance
