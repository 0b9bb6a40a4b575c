// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend, store: what CB_STORE_PRE_COMPUTED and CB_STORE_FINAL take from the buffer, under which
// names, and who finds it then.
#include "conformance/cases/blend_cases.h"
#include "conformance/harness/blend_player.h"

namespace kvc::conformance {
namespace {

// Looks the document up, retrieves it to token `to`, and compares all of the buffer with `source`,
// which is what was in the buffer when chunk i was stored from token from + i * chunk.
void expect_stored(Case& test, BlendPlayer& player, const Tokens& document, const Bytes& contents,
                   std::size_t to, const std::string& what) {
  const std::size_t num_chunks = document.size() / player.chunk_size();
  std::vector<MatchPlace> places;
  for (std::size_t i = 0; i < num_chunks; ++i)
    places.push_back({i * player.chunk_size(), i * player.chunk_size()});
  player.fill(test.random()());
  const Bytes before = player.image();
  const Key key = player.key(document);
  const CBMatchResults matches = player.expect_matches(key, places, what);
  player.retrieve_ok(key, matches, Int(to));
  player.expect_image(player.with(before, to, contents), what);
}

void from_the_offset(Case& test) {
  BlendPlayer player = registered_blend_player(test, 5);
  const std::size_t chunk = player.chunk_size();
  for (const std::size_t offset :
       {std::size_t{0}, std::size_t{1}, chunk - 1, chunk, 2 * chunk + 5}) {
    test.step("offset " + std::to_string(offset));
    player.fill(test.random()());
    const Bytes contents = player.content(offset, 3 * chunk);
    const Tokens document = player.document(3);
    player.store_ok(player.key(document), Int(offset));
    expect_stored(test, player, document, contents, 3,
                  "of what was stored from token " + std::to_string(offset));
  }
}

void all_full_chunks(Case& test) {
  BlendPlayer player = registered_blend_player(test, 4);
  const std::size_t chunk = player.chunk_size();
  for (const auto& [start, end] :
       {std::pair<Int, Int>{0, 0}, {0, chunk}, {chunk, 2 * chunk}, {1, 5}, {7, 3}, {0, 100'000}}) {
    test.step("start " + start.to_string() + ", end " + end.to_string());
    player.fill(test.random()());
    const Bytes contents = player.content(2, 3 * chunk);
    const Tokens document = player.document(3);
    Key key = player.key(document);
    key.start = start;
    key.end = end;
    player.store_ok(key, 2);
    expect_stored(test, player, document, contents, 0,
                  "of all full chunks, though start and end are " + start.to_string() + " and " +
                      end.to_string());
  }
}

void tail_is_not_stored(Case& test) {
  BlendPlayer player = registered_blend_player(test, 4);
  const std::size_t chunk = player.chunk_size();
  player.fill(test.random()());
  const Tokens whole = player.document(3);
  const Bytes contents = player.content(0, 2 * chunk);
  // The buffer holds the tail too, and ends behind it.
  const Tokens document(whole.begin(), whole.end() - 1);
  player.store_ok(player.key(document));
  player.expect_matches(player.key(whole), {{0, 0}, {chunk, chunk}},
                        "of three chunks, of which the third lacked a token when it was stored");
  expect_stored(test, player, player.part(whole, 0, 2), contents, chunk, "of the two full chunks");
  const Tokens tail = player.document(1);
  player.store(player.key(Tokens(tail.begin(), tail.end() - 1)));
  player.expect_matches(player.key(tail), {}, "of a chunk that was stored but for a token");
}

// Only the part that a document needs has to fit.
void up_to_the_end(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  const std::size_t chunk = player.chunk_size();
  player.fill(test.random()());
  const std::size_t last = player.shape().num_tokens - chunk;
  const Bytes contents = player.chunk_at(last);
  const Tokens document = player.document(1);
  player.store_ok(player.key(document), Int(last),
                  "CB_STORE_PRE_COMPUTED of the buffer's last tokens");
  expect_stored(test, player, document, contents, last, "of the buffer's last tokens, there");
}

void first_writer_wins(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const std::size_t chunk = player.chunk_size();
  const Tokens document = player.document(3);
  player.fill(test.random()());
  const Bytes first_two = player.content(0, 2 * chunk);
  player.store_ok(player.key(player.part(document, 0, 2)));
  player.fill(test.random()());
  const Bytes third = player.chunk_at(2 * chunk);
  player.store_ok(player.key(document), 0, "CB_STORE_PRE_COMPUTED of two stored chunks and a new");
  player.stamp(0x5a);
  const Bytes expected = player.with(player.with(player.image(), 0, first_two), 2 * chunk, third);
  const Key key = player.key(document);
  const CBMatchResults matches = player.expect_matches(
      key, {{0, 0}, {chunk, chunk}, {2 * chunk, 2 * chunk}}, "of the two and the new one");
  player.retrieve_ok(key, matches);
  player.expect_image(expected, "the chunks that were stored first, and the new one");
}

void plain_lookup_finds(Case& test, RequestType type) {
  BlendPlayer player = registered_blend_player(test, 3);
  EnginePlayer paged = paged_twin(test, player, 3);
  const std::size_t chunk = player.chunk_size();
  player.fill(test.random()());
  const Tokens document = player.document(3);
  player.store_ok(player.key(document), 2, std::string(to_string(type)), type);
  const Key key = paged.key(document);
  test.expect_equal(paged.lookup(key), Int(3), "chunks found by a plain LOOKUP");
  paged.retrieve_ok(key, paged.blocks(0, 3), 0, "a plain RETRIEVE");
  for (std::size_t i = 0; i < 3; ++i)
    paged.expect_contents(paged.blocks(i), as_blocks(player, paged, player.chunk_at(2 + i * chunk)),
                          "chunk " + std::to_string(i) + " by a plain RETRIEVE");
  player.expect_matches(player.key(player.query({std::size_t{1}, player.part(document, 1, 3)})),
                        {{1, chunk}, {1 + chunk, 2 * chunk}}, "of its last two chunks");
}

// What a paged engine stored is not stored again, and comes back as the paged engine had it.
void plain_store_is_kept(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  EnginePlayer paged = paged_twin(test, player, 2);
  const std::size_t chunk = player.chunk_size();
  const Tokens document = player.document(2);
  player.fill(test.random()());
  const Bytes contents = player.content(0, 2 * chunk);
  for (std::size_t i = 0; i < 2; ++i) {
    // The paged engine's blocks hold what the buffer holds now.
    const Contents blocks = as_blocks(player, paged, player.chunk_at(i * chunk));
    paged.put(paged.blocks(i), blocks);
  }
  paged.store_ok(paged.key(document), paged.blocks(0, 2), "a plain STORE");
  player.fill(test.random()());
  player.store_ok(player.key(document), 0, "CB_STORE_PRE_COMPUTED of what is stored");
  expect_stored(test, player, document, contents, 5, "of what a plain STORE stored");
}

void only_worker_zero_registers(Case& test) {
  BlendPlayer player(test, blend_shape(test, 2), test.unique("blend"), Int(2));
  player.register_buffer();
  const std::size_t chunk = player.chunk_size();
  const Tokens document = player.document(2);
  Key key = player.key(document);
  key.worker_id = 1;
  player.store_ok(key, 0, "CB_STORE_PRE_COMPUTED of worker 1");
  key.worker_id = 0;
  player.store_ok(key, 0, "CB_STORE_PRE_COMPUTED of worker 0");
  player.expect_matches(player.key(document), {{0, 0}, {chunk, chunk}},
                        "of what both workers stored");
}

// Objects of all workers are there, but nobody may have made them findable by content: worker 0's
// came by a plain STORE.
void worker_one_registers_nothing(Case& test) {
  BlendPlayer player(test, blend_shape(test, 2), test.unique("blend"), Int(2));
  player.register_buffer();
  EngineShape shape = small_shape(test, 2);
  shape.head_size = player.shape().hidden_size / shape.num_heads;
  EnginePlayer paged(test, shape, player.model_name(), Int(2));
  paged.register_kv_cache();
  const Tokens document = player.document(2);
  paged.store_ok(paged.key(document), paged.blocks(0, 2), "a plain STORE of worker 0");
  Key key = player.key(document);
  key.worker_id = 1;
  player.store_ok(key, 0, "CB_STORE_PRE_COMPUTED of worker 1");
  test.expect_equal(paged.lookup(paged.key(document)), Int(2), "chunks found by a plain LOOKUP");
  player.expect_matches(player.key(document), {},
                        "of what worker 0 has stored by a plain STORE only");
}

void without_worker(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const std::size_t chunk = player.chunk_size();
  for (const RequestType type : {RequestType::kCbStorePreComputed, RequestType::kCbStoreFinal}) {
    player.fill(test.random()());
    const Bytes contents = player.content(1, 2 * chunk);
    const Tokens document = player.document(2);
    Key key = player.key(document);
    key.worker_id = std::nullopt;
    player.store_ok(key, 1, std::string(to_string(type)) + " without worker_id", type);
    expect_stored(test, player, document, contents, 0, "of what no worker stored");
  }
}

}  // namespace

void add_blend_store_cases(CaseList& cases) {
  cases.add({"Blend.StoresFromTheOffset",
             {"blend.store-offset", "blend.retrieve-exact"},
             "Chunk i is taken from tokens [offset + i * chunk, …) of the buffer, byte for byte.",
             kBlendV2Needs,
             from_the_offset});
  cases.add({"Blend.StoreIgnoresStartAndEnd",
             {"blend.store-all"},
             "All full chunks are stored, whatever start and end of the key are.",
             kBlendV2Needs,
             all_full_chunks});
  cases.add({"Blend.StoresNoTail",
             {"blend.store-all"},
             "A tail of less than a chunk is not stored, though the buffer holds it.",
             kBlendV2Needs,
             tail_is_not_stored});
  cases.add({"Blend.StoresUpToTheEnd",
             {"blend.store-offset", "blend.retrieve-exact"},
             "The buffer's last tokens can be stored, and retrieved to the same place.",
             kBlendV2Needs,
             up_to_the_end});
  cases.add({"Blend.FirstWriterWins",
             {"blend.store-first-writer"},
             "Chunks that are stored already stay as they are; new ones beside them are stored.",
             kBlendV2Needs,
             first_writer_wins});
  cases.add({"Blend.PlainLookupFindsPreComputed",
             {"blend.normal-names", "blend.same-bytes"},
             "What CB_STORE_PRE_COMPUTED stored is found by LOOKUP and retrieved by RETRIEVE.",
             kBlendV2Needs,
             [](Case& test) { plain_lookup_finds(test, RequestType::kCbStorePreComputed); }});
  cases.add({"Blend.StoreFinalIsFoundByBoth",
             {"blend.store-final", "blend.same-bytes"},
             "What CB_STORE_FINAL stored is found by LOOKUP and by CB_LOOKUP_PRE_COMPUTED_V2.",
             kBlendV2Needs,
             [](Case& test) { plain_lookup_finds(test, RequestType::kCbStoreFinal); }});
  cases.add({"Blend.RetrievesWhatStoreStored",
             {"blend.same-bytes", "blend.store-first-writer"},
             "What STORE stored comes out of CB_RETRIEVE_PRE_COMPUTED_V2, once it is registered.",
             kBlendV2Needs,
             plain_store_is_kept});
  cases.add({"Blend.EachWorkerStoresItsOwn",
             {"blend.worker-registers"},
             "With two workers a chunk is found when both have stored it.",
             kBlendV2Needs,
             only_worker_zero_registers});
  cases.add({"Blend.WorkerOneRegistersNothing",
             {"blend.worker-registers"},
             "The store of worker 1 alone makes nothing findable by its content.",
             kBlendV2Needs,
             worker_one_registers_nothing});
  cases.add({"Blend.StoresWithoutWorkerId",
             {"blend.worker-registers"},
             "A store without worker_id, in a world of one, stores and registers.",
             kBlendV2Needs,
             without_worker});
}

}  // namespace kvc::conformance
