// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Store: what STORE makes visible, and of what. What it refuses is in transfer_refusals.cc, and the
// order of its copy and the client's event in events.cc.
#include <algorithm>

#include "conformance/cases/data_cases.h"
#include "conformance/harness/engine_player.h"

namespace kvc::conformance {
namespace {

const std::vector<Capability> kNeeds = {Capability::kDevice};

// RETRIEVE of chunks [first, last) of `tokens`, found by a LOOKUP of its own, into chunk place
// `place` and on.
void expect_chunks(Case& test, EnginePlayer& player, const Tokens& tokens, std::size_t first,
                   std::size_t last, std::size_t place, const Contents& expected,
                   const std::string& what) {
  const Key key = player.key_of(tokens, first, last);
  test.expect_equal(player.lookup(key), Int(tokens.size() / player.chunk_size()),
                    "chunks found by LOOKUP, " + what);
  player.retrieve_ok(key, player.blocks(place, last - first), 0, what + ", RETRIEVE");
  player.expect_contents(player.blocks(place, last - first), expected, what);
}

void first_writer_wins(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 3));
  const Tokens tokens = player.fresh_chunks(1);
  const Contents first = player.fill(player.blocks(0), test.random()());
  player.store_ok(player.key(tokens), player.blocks(0));
  player.fill(player.blocks(1), test.random()());
  player.store_ok(player.key(tokens), player.blocks(1), "STORE of a chunk that exists");
  expect_chunks(test, player, tokens, 0, 1, 2, first, "after two STOREs");
}

void only_new_chunks_are_stored(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 9));
  const Tokens tokens = player.fresh_chunks(3);
  const Tokens head(tokens.begin(),
                    tokens.begin() + static_cast<std::ptrdiff_t>(player.chunk_size()));
  Contents expected = player.fill(player.blocks(0), test.random()());
  player.store_ok(player.key(head), player.blocks(0));
  const Contents all = player.fill(player.blocks(3, 3), test.random()());
  player.store_ok(player.key(tokens), player.blocks(3, 3), "STORE of one old and two new chunks");
  expected.insert(expected.end(), all.begin() + static_cast<std::ptrdiff_t>(expected.size()),
                  all.end());
  expect_chunks(test, player, tokens, 0, 3, 6, expected, "after both STOREs");
}

void blocks_count_from_start(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 7));
  const Tokens tokens = player.fresh_chunks(3);
  Contents expected = player.fill(player.blocks(0, 3), test.random()());
  const BlockIds tail = player.blocks(1, 2);
  player.store_ok(player.key_of(tokens, 1, 3), tail, "STORE of chunks 1 and 2");
  player.expect_lookup(tokens, Int(0), "while chunk 0 is missing");
  player.store_ok(player.key_of(tokens, 0, 1), player.blocks(0), "STORE of chunk 0");
  expect_chunks(test, player, tokens, 0, 3, 4, expected, "chunk 0 and then all");
}

void tails(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const std::size_t chunk = player.chunk_size();
  const std::vector<std::pair<std::size_t, std::size_t>> lengths = {
      {chunk + 1, 1}, {2 * chunk - 1, 1}, {2 * chunk, 2}, {chunk, 1}, {chunk - 1, 0}};
  for (const auto& [length, num_chunks] : lengths) {
    test.step(std::to_string(length) + " tokens");
    const Tokens tokens = player.fresh_tokens(length);
    const Contents contents = player.fill(player.blocks(0, num_chunks), test.random()());
    if (num_chunks > 0) player.store_ok(player.key(tokens), player.blocks(0, num_chunks));
    const Key key = player.key(tokens);
    test.expect_equal(player.lookup(key), Int(num_chunks), "chunks found by LOOKUP");
    if (num_chunks == 0) continue;
    player.retrieve_ok(key, player.blocks(2, num_chunks));
    player.expect_contents(player.blocks(2, num_chunks), contents, "what was stored");
  }
}

void tail_is_no_part(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 3));
  const Tokens tokens = player.fresh_tokens(2 * player.chunk_size() - 1);
  player.fill(player.blocks(0), test.random()());
  player.store_ok(player.key(tokens), player.blocks(0));
  Tokens other = tokens;
  other.back() ^= 1U;
  player.expect_lookup(other, Int(1), "with another tail");
  Tokens longer = player.fresh_tokens(2 * player.chunk_size());
  std::copy(tokens.begin(), tokens.end(), longer.begin());
  player.expect_lookup(longer, Int(1), "with the tail grown to a chunk");
}

void multiples(Case& test) {
  constexpr std::size_t kMost = 130;
  EnginePlayer player = registered_player(test, tiny_shape(test, kMost));
  for (std::size_t k = 1; k <= kMost; ++k) {
    test.step(std::to_string(k) + " chunks");
    const Tokens tokens = player.fresh_chunks(k);
    player.store_ok(player.key(tokens), player.blocks(0, k));
    player.expect_lookup(tokens, Int(k), "of exactly as many chunks as were stored");
  }
}

void chunk_depends_on_all_before(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 6));
  const std::size_t chunk = player.chunk_size();
  const Tokens tokens = player.fresh_chunks(2);
  player.store_ok(player.key(tokens), player.blocks(0, 2));
  Tokens other = tokens;
  other[chunk - 1] ^= 1U;
  player.expect_lookup(other, Int(0), "with one token of the first chunk changed");
  player.store_ok(player.key_of(other, 0, 1), player.blocks(2), "STORE of the other first chunk");
  player.expect_lookup(other, Int(1), "the same second chunk behind another first");
  other = tokens;
  other.back() ^= 1U;
  player.expect_lookup(other, Int(1), "with the last token of the second chunk changed");
}

void repeated_chunks_are_apart(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 6));
  Tokens tokens = player.fresh_chunks(1);
  const Tokens once = tokens;
  tokens.insert(tokens.end(), once.begin(), once.end());
  tokens.insert(tokens.end(), once.begin(), once.end());
  const Contents contents = player.fill(player.blocks(0, 3), test.random()());
  player.store_ok(player.key(tokens), player.blocks(0, 3));
  expect_chunks(test, player, tokens, 0, 3, 3, contents, "three equal chunks of tokens");
}

void token_limits(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  Tokens tokens = player.fresh_chunks(2);
  tokens[1] = 0;
  tokens[2] = 0xffffffffU;
  const Contents contents = player.fill(player.blocks(0, 2), test.random()());
  player.store_ok(player.key(tokens), player.blocks(0, 2));
  Tokens other = tokens;
  other[2] = 0xfffffffeU;
  player.expect_lookup(other, Int(0), "with token 2^32-2 instead of 2^32-1");
  expect_chunks(test, player, tokens, 0, 2, 2, contents, "tokens 0 and 2^32-1");
}

void workers_are_apart(Case& test) {
  EnginePlayer player(test, small_shape(test, 4), test.unique("model"), Int(2));
  player.register_kv_cache();
  const Tokens tokens = player.fresh_chunks(1);
  const Contents contents = player.fill(player.blocks(0, 2), test.random()());
  const std::size_t n = player.blocks_per_chunk();
  const auto middle = contents.begin() + static_cast<std::ptrdiff_t>(n);
  Key key = player.key(tokens);
  player.store_ok(key, player.blocks(0), "STORE of worker 0");
  key.worker_id = 1;
  player.store_ok(key, player.blocks(1), "STORE of worker 1");
  key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(1), "chunks found by LOOKUP for all workers");
  key.worker_id = 1;
  player.retrieve_ok(key, player.blocks(3), 0, "RETRIEVE of worker 1");
  key.worker_id = 0;
  player.retrieve_ok(key, player.blocks(2), 0, "RETRIEVE of worker 0");
  player.expect_contents(player.blocks(2), Contents(contents.begin(), middle), "worker 0's chunk");
  player.expect_contents(player.blocks(3), Contents(middle, contents.end()), "worker 1's chunk");
}

void models_and_world_sizes_are_apart(Case& test) {
  EnginePlayer one = registered_player(test, small_shape(test, 3));
  EnginePlayer other = registered_player(test, small_shape(test, 3));
  EnginePlayer wide(test, small_shape(test, 3), one.model_name(), Int(2));
  wide.register_kv_cache();
  const Tokens tokens = one.fresh_chunks(1);
  one.store_ok(one.key(tokens), one.blocks(0));
  other.expect_lookup(tokens, Int(0), "of another model");
  wide.expect_lookup(tokens, Int(0), "of another world size");
  one.expect_lookup(tokens, Int(1), "of the model that stored");
}

void same_blocks_for_every_chunk(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const Tokens tokens = player.fresh_chunks(2);
  const Contents contents = player.fill(player.blocks(0), test.random()());
  BlockIds twice = player.blocks(0);
  std::reverse(twice.begin(), twice.end());
  const BlockIds forward = player.blocks(0);
  twice.insert(twice.end(), forward.begin(), forward.end());
  player.store_ok(player.key(tokens), twice);
  Contents expected(contents.rbegin(), contents.rend());
  expected.insert(expected.end(), contents.begin(), contents.end());
  expect_chunks(test, player, tokens, 0, 2, 2, expected, "one set of blocks in two orders");
}

void pipelined_writers(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const Tokens tokens = player.fresh_chunks(1);
  const Contents first = player.fill(player.blocks(0), test.random()());
  player.fill(player.blocks(1), test.random()());
  const Sent one = player.send_store(player.key(tokens), player.blocks(0), player.ready_event());
  const Sent two = player.send_store(player.key(tokens), player.blocks(1), player.ready_event());
  for (const Sent& sent : {one, two}) {
    const auto result = player.client().result<TransferResult>(player.client().reply_to(sent));
    test.expect(result.ok, "STORE answers (event, True)", describe(Value(result)));
    player.wait_done(result.event_handle);
  }
  expect_chunks(test, player, tokens, 0, 1, 2, first, "two STOREs of one chunk in a pipeline");
}

}  // namespace

void add_store_cases(CaseList& cases) {
  cases.add({"Store.FirstWriterWins",
             {"store.first-writer"},
             "A STORE of a chunk that exists is True and changes nothing.",
             kNeeds,
             first_writer_wins});
  cases.add({"Store.FirstWriterWinsInAPipeline",
             {"store.first-writer", "handlers.data-order"},
             "Of two pipelined STOREs of one chunk the first is kept.",
             kNeeds,
             pipelined_writers});
  cases.add({"Store.OnlyNewChunksAreStored",
             {"store.first-writer", "store.blocks"},
             "A STORE of old and new chunks leaves the old and stores the new from their own "
             "blocks.",
             kNeeds,
             only_new_chunks_are_stored});
  cases.add({"Store.BlocksCountFromStart",
             {"store.blocks", "lookup.leading-run"},
             "The block ids of a STORE belong to the chunks from `start` on.",
             kNeeds,
             blocks_count_from_start});
  cases.add({"Store.TailsAreNotStored",
             {"chunk.full-only"},
             "Of chunk-1, chunk, chunk+1, 2*chunk-1 and 2*chunk tokens 0, 1, 1, 1 and 2 chunks are "
             "found.",
             kNeeds,
             tails});
  cases.add({"Store.TailIsNoPartOfAChunk",
             {"chunk.full-only"},
             "Tokens behind the last full chunk change nothing about what is found.",
             kNeeds,
             tail_is_no_part});
  cases.add({"Store.ExactMultiplesOfTheChunk",
             {"chunk.full-only", "lookup.counts-chunks"},
             "For k = 1 to 130, k chunks stored are k chunks found.",
             kNeeds,
             multiples});
  cases.add({"Store.ChunkDependsOnAllTokensBefore",
             {"chunk.hash-chain"},
             "A chunk is found only behind the tokens that it was stored behind.",
             kNeeds,
             chunk_depends_on_all_before});
  cases.add({"Store.RepeatedChunksAreApart",
             {"chunk.hash-chain"},
             "A chunk of tokens that comes three times is three objects.",
             kNeeds,
             repeated_chunks_are_apart});
  cases.add({"Store.TokensUpToTheLimitsOfU32",
             {"chunk.tokens-u32"},
             "Token ids 0 and 2^32-1 are stored and told from their neighbours.",
             kNeeds,
             token_limits});
  cases.add({"Store.WorkersAreApart",
             {"key.worker"},
             "Each worker's part of a chunk is an object of its own.",
             kNeeds,
             workers_are_apart});
  cases.add({"Store.ModelsAndWorldSizesAreApart",
             {"key.model"},
             "What one model, or one world size, stored no other finds.",
             kNeeds,
             models_and_world_sizes_are_apart});
  cases.add({"Store.AnyOrderOfBlocks",
             {"store.blocks"},
             "Block ids come in any order and more than once.",
             kNeeds,
             same_blocks_for_every_chunk});
}

}  // namespace kvc::conformance
