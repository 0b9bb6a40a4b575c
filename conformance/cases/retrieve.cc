// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Retrieve: what RETRIEVE writes, and what it leaves alone. What it refuses is in
// transfer_refusals.cc.
#include <algorithm>

#include "conformance/cases/data_cases.h"
#include "conformance/harness/engine_player.h"

namespace kvc::conformance {
namespace {

const std::vector<Capability> kNeeds = {Capability::kDevice};

// `num_chunks` chunks stored from the first places on; answers what they hold.
Contents stored(Case& test, EnginePlayer& player, const Tokens& tokens, std::size_t num_chunks) {
  Contents contents = player.fill(player.blocks(0, num_chunks), test.random()());
  player.store_ok(player.key_of(tokens, 0, num_chunks), player.blocks(0, num_chunks));
  return contents;
}

void expect_false_and_untouched(Case& test, EnginePlayer& player, const Key& key,
                                const BlockIds& blocks, const MemoryImage& before,
                                const std::string& what) {
  const TransferResult result = player.retrieve(key, blocks);
  test.expect(!result.ok, what + " answers False", describe(Value(result)));
  // Behind whatever the RETRIEVE may have queued.
  player.store_ok(player.key(player.fresh_chunks(1)), player.blocks(0), "STORE of another chunk");
  player.expect_image(before, what);
}

struct Skip {
  std::string id;
  std::string words;
  std::int64_t (*tokens)(const EnginePlayer&);
};

constexpr std::size_t kSkipChunks = 6;  // more than a server may take in one batch

const std::vector<Skip>& skips() {
  static const std::vector<Skip> all = {
      {"Nothing", "0", [](const EnginePlayer&) { return std::int64_t{0}; }},
      {"OneToken", "1", [](const EnginePlayer&) { return std::int64_t{1}; }},
      {"BlockLessOne", "block-1",
       [](const EnginePlayer& p) {
         return static_cast<std::int64_t>(p.geometry().tokens_per_block()) - 1;
       }},
      {"ABlock", "block",
       [](const EnginePlayer& p) {
         return static_cast<std::int64_t>(p.geometry().tokens_per_block());
       }},
      {"ChunkLessOne", "chunk-1",
       [](const EnginePlayer& p) { return static_cast<std::int64_t>(p.chunk_size()) - 1; }},
      {"AChunk", "chunk",
       [](const EnginePlayer& p) { return static_cast<std::int64_t>(p.chunk_size()); }},
      {"ChunkAndOne", "chunk+1",
       [](const EnginePlayer& p) { return static_cast<std::int64_t>(p.chunk_size()) + 1; }},
      {"FiveChunksAndABlock", "5*chunk+block",
       [](const EnginePlayer& p) {
         return static_cast<std::int64_t>(5 * p.chunk_size() + p.geometry().tokens_per_block());
       }},
      {"AllLessOne", "all-1",
       [](const EnginePlayer& p) {
         return static_cast<std::int64_t>(kSkipChunks * p.chunk_size()) - 1;
       }},
      {"All", "all tokens",
       [](const EnginePlayer& p) {
         return static_cast<std::int64_t>(kSkipChunks * p.chunk_size());
       }},
  };
  return all;
}

void expect_skip(Case& test, const Skip& skip) {
  EnginePlayer player = registered_player(test, small_shape(test, 2 * kSkipChunks));
  const Tokens tokens = player.fresh_chunks(kSkipChunks);
  const Contents contents = stored(test, player, tokens, kSkipChunks);
  const MemoryImage before = player.image();
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(kSkipChunks), "chunks found by LOOKUP");
  const BlockIds target = player.blocks(kSkipChunks, kSkipChunks);
  player.retrieve_ok(key, target, Int(skip.tokens(player)));
  const auto num_skipped =
      static_cast<std::size_t>(skip.tokens(player)) / player.geometry().tokens_per_block();
  player.expect_image(player.with(before, target, contents, num_skipped),
                      "RETRIEVE with skip_first_n_tokens " + skip.words);
}

void skip_counts_from_start(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 8));
  const Tokens tokens = player.fresh_chunks(4);
  const Contents contents = stored(test, player, tokens, 4);
  const MemoryImage before = player.image();
  const Key key = player.key_of(tokens, 1, 3);
  test.expect_equal(player.lookup(key), Int(4), "chunks found by LOOKUP");
  const BlockIds target = player.blocks(5, 2);
  player.retrieve_ok(key, target, Int(player.geometry().tokens_per_block()));
  const auto chunk = static_cast<std::ptrdiff_t>(player.blocks_per_chunk());
  const Contents middle(contents.begin() + chunk, contents.begin() + 3 * chunk);
  player.expect_image(player.with(before, target, middle, 1),
                      "RETRIEVE of chunks 1 and 2 but for a block");
}

void part_of_the_range(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 8));
  const Tokens tokens = player.fresh_chunks(4);
  const Contents contents = stored(test, player, tokens, 4);
  const MemoryImage before = player.image();
  const std::string id = test.unique("request");
  test.expect_equal(player.lookup(player.key(tokens, id)), Int(4), "chunks found by LOOKUP");
  MemoryImage expected = before;
  for (const std::size_t chunk : {2U, 0U, 3U, 1U}) {
    const auto n = static_cast<std::ptrdiff_t>(player.blocks_per_chunk());
    const auto first = static_cast<std::ptrdiff_t>(chunk) * n;
    const BlockIds target = player.blocks(4 + chunk);
    player.retrieve_ok(player.key_of(tokens, chunk, chunk + 1, id), target);
    expected = player.with(expected, target,
                           Contents(contents.begin() + first, contents.begin() + first + n));
    player.expect_image(expected, "RETRIEVE of chunk " + std::to_string(chunk) + " alone");
  }
}

void into_its_own_blocks(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 3));
  const Tokens tokens = player.fresh_chunks(3);
  stored(test, player, tokens, 3);
  const MemoryImage before = player.image();
  player.fill(player.blocks(0, 3), test.random()());
  const Key key = player.key(tokens);
  player.lookup(key);
  player.retrieve_ok(key, player.blocks(0, 3));
  player.expect_image(before, "RETRIEVE into the blocks it was stored from");
}

void without_lookup(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const Tokens tokens = player.fresh_chunks(2);
  stored(test, player, tokens, 2);
  const MemoryImage before = player.image();
  expect_false_and_untouched(test, player, player.key(tokens), player.blocks(2, 2), before,
                             "RETRIEVE without a LOOKUP");
}

void second_without_lookup(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const Tokens tokens = player.fresh_chunks(2);
  const Contents contents = stored(test, player, tokens, 2);
  const Key key = player.key(tokens);
  player.lookup(key);
  player.retrieve_ok(key, player.blocks(2, 2));
  player.fill(player.blocks(2, 2), test.random()());
  const MemoryImage before = player.image();
  expect_false_and_untouched(test, player, key, player.blocks(2, 2), before,
                             "a second RETRIEVE without a LOOKUP");
}

void never_stored(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 4));
  const MemoryImage before = player.image();
  const Key key = player.key(player.fresh_chunks(2));
  test.expect_equal(player.lookup(key), Int(0), "chunks found by LOOKUP");
  expect_false_and_untouched(test, player, key, player.blocks(2, 2), before,
                             "RETRIEVE of what was never stored");
}

void all_or_nothing(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 12));
  const Tokens tokens = player.fresh_chunks(6);
  // Five of six: the miss comes last, behind a whole batch of hits.
  stored(test, player, tokens, 5);
  const MemoryImage before = player.image();
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(5), "chunks found by LOOKUP");
  expect_false_and_untouched(test, player, key, player.blocks(6, 6), before,
                             "RETRIEVE of six chunks of which five are there");
}

void not_locked_is_nothing(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 12));
  const Tokens tokens = player.fresh_chunks(6);
  stored(test, player, tokens, 6);
  const MemoryImage before = player.image();
  // The last of six is there, and only five are locked.
  Tokens five = tokens;
  five.resize(5 * player.chunk_size());
  test.expect_equal(player.lookup(five), Int(5), "chunks found by LOOKUP");
  expect_false_and_untouched(test, player, player.key(tokens), player.blocks(6, 6), before,
                             "RETRIEVE of six chunks of which five are locked");
}

void too_few_blocks_is_nothing(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 12));
  const Tokens tokens = player.fresh_chunks(6);
  stored(test, player, tokens, 6);
  const MemoryImage before = player.image();
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(6), "chunks found by LOOKUP");
  BlockIds too_few = player.blocks(6, 6);
  too_few.pop_back();
  player.expect_never_true(player.send_retrieve(key, too_few, player.ready_event()),
                           "RETRIEVE of six chunks with one block id too few");
  player.store_ok(player.key(player.fresh_chunks(1)), player.blocks(0), "STORE of another chunk");
  player.expect_image(before, "RETRIEVE of six chunks with one block id too few");
}

void empty_event(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 2));
  const Tokens tokens = player.fresh_chunks(1);
  const Contents contents = stored(test, player, tokens, 1);
  const Key key = player.key(tokens);
  player.lookup(key);
  const Sent sent = player.send_retrieve(key, player.blocks(1), Bytes{});
  const auto result = player.client().result<TransferResult>(player.client().reply_to(sent));
  test.expect(result.ok, "RETRIEVE with an empty event handle answers (event, True)",
              describe(Value(result)));
  player.wait_done(result.event_handle);
  player.expect_contents(player.blocks(1), contents, "RETRIEVE with an empty event handle");
}

void many_readers(Case& test) {
  EnginePlayer writer = registered_player(test, small_shape(test, 4));
  const Tokens tokens = writer.fresh_chunks(2);
  const Contents contents = stored(test, writer, tokens, 2);
  std::vector<EnginePlayer> readers;
  std::vector<Key> keys;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back(test, small_shape(test, 4), writer.model_name());
    readers.back().register_kv_cache();
    keys.push_back(readers.back().key(tokens));
    test.expect_equal(readers.back().lookup(keys.back()), Int(2), "chunks found by LOOKUP");
  }
  std::vector<Sent> sent;
  for (std::size_t i = 0; i < readers.size(); ++i)
    sent.push_back(
        readers[i].send_retrieve(keys[i], readers[i].blocks(i % 3, 2), readers[i].ready_event()));
  for (std::size_t i = 0; i < readers.size(); ++i) {
    const auto result =
        readers[i].client().result<TransferResult>(readers[i].client().reply_to(sent[i]));
    test.expect(result.ok, "each reader's RETRIEVE answers True", describe(Value(result)));
    readers[i].wait_done(result.event_handle);
    readers[i].expect_contents(readers[i].blocks(i % 3, 2), contents, "one of four readers");
  }
}

}  // namespace

void add_retrieve_cases(CaseList& cases) {
  for (const Skip& skip : skips())
    cases.add({"Retrieve.Skips" + skip.id,
               {"retrieve.skip", "retrieve.exact"},
               "RETRIEVE with skip_first_n_tokens " + skip.words +
                   " leaves that many tokens, rounded down to a block, alone.",
               kNeeds,
               [skip](Case& test) { expect_skip(test, skip); }});
  cases.add({"Retrieve.SkipCountsFromStart",
             {"retrieve.skip"},
             "skip_first_n_tokens counts from the key's start.",
             kNeeds,
             skip_counts_from_start});
  cases.add({"Retrieve.AnyPartOfTheRange",
             {"retrieve.range", "retrieve.exact"},
             "RETRIEVE copies the chunks [start, end) alone, and each can be had by itself.",
             kNeeds,
             part_of_the_range});
  cases.add({"Retrieve.IntoItsOwnBlocks",
             {"retrieve.exact"},
             "What was overwritten since comes back into the blocks it was stored from.",
             kNeeds,
             into_its_own_blocks});
  cases.add({"Retrieve.NeedsALookup",
             {"retrieve.needs-lock", "retrieve.untouched"},
             "RETRIEVE of chunks that no LOOKUP has locked is False, and touches nothing.",
             kNeeds,
             without_lookup});
  cases.add({"Retrieve.SecondNeedsALookup",
             {"retrieve.needs-lock", "retrieve.releases", "retrieve.untouched"},
             "A second RETRIEVE without a new LOOKUP is False, and touches nothing.",
             kNeeds,
             second_without_lookup});
  cases.add({"Retrieve.OfWhatWasNeverStored",
             {"retrieve.needs-lock", "retrieve.untouched"},
             "RETRIEVE of what was never stored is False, and touches nothing.",
             kNeeds,
             never_stored});
  cases.add({"Retrieve.IsAllOrNothing",
             {"retrieve.all-or-nothing", "retrieve.untouched"},
             "RETRIEVE of chunks of which the last is missing writes none of them.",
             kNeeds,
             all_or_nothing});
  cases.add({"Retrieve.IsAllOrNothingOfTheLocked",
             {"retrieve.all-or-nothing", "retrieve.untouched"},
             "RETRIEVE of chunks of which the last is not locked writes none of them.",
             kNeeds,
             not_locked_is_nothing});
  cases.add({"Retrieve.TooFewBlocksWriteNothing",
             {"retrieve.all-or-nothing", "retrieve.untouched", "transfer.block-ids"},
             "RETRIEVE of many chunks with a block id too few writes none of them.",
             kNeeds,
             too_few_blocks_is_nothing});
  cases.add({"Retrieve.EmptyEventIsNothingToWaitFor",
             {"events.retrieve-empty"},
             "RETRIEVE with an empty event handle has nothing to wait for.",
             kNeeds,
             empty_event});
  cases.add({"Retrieve.ManyReadersAtOnce",
             {"retrieve.exact", "registration.instances"},
             "Four instances retrieve the same chunks at the same time.",
             kNeeds,
             many_readers});
}

}  // namespace kvc::conformance
