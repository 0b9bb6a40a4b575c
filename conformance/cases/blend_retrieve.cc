// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend, retrieve of the second generation: which bytes go where, and that no others do.
#include <algorithm>

#include "conformance/cases/blend_cases.h"
#include "conformance/harness/blend_player.h"

namespace kvc::conformance {
namespace {

struct Stored {
  Tokens document;
  Bytes contents;  // [2, layers, tokens, hidden]
  std::vector<Bytes> chunks;
};

Stored stored(Case& test, BlendPlayer& player, std::size_t num_chunks) {
  Stored out;
  out.document = player.document(num_chunks);
  player.fill(test.random()());
  out.contents = player.content(0, num_chunks * player.chunk_size());
  for (std::size_t i = 0; i < num_chunks; ++i)
    out.chunks.push_back(player.chunk_at(i * player.chunk_size()));
  player.store_ok(player.key(out.document));
  player.fill(test.random()());
  return out;
}

void exact_at_odd_places(Case& test) {
  BlendPlayer player = registered_blend_player(test, 8);
  const std::size_t chunk = player.chunk_size();
  const Stored source = stored(test, player, 3);
  for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, chunk + 3}) {
    test.step("offset " + std::to_string(offset));
    player.fill(test.random()());
    const Bytes before = player.image();
    const Tokens query = player.query({std::size_t{7}, player.part(source.document, 2, 3),
                                       chunk - 1, player.part(source.document, 0, 2)});
    const Key key = player.key(query);
    const std::size_t second = 7 + chunk + chunk - 1;
    const CBMatchResults matches = player.expect_matches(
        key, {{7, 2 * chunk}, {second, 0}, {second + chunk, chunk}}, "of chunks at odd places");
    player.retrieve_ok(key, matches, Int(offset));
    Bytes expected = player.with(before, offset + 7, source.chunks[2]);
    expected = player.with(expected, offset + second, source.chunks[0]);
    expected = player.with(expected, offset + second + chunk, source.chunks[1]);
    player.expect_image(expected, "matches at tokens 7, " + std::to_string(second) + " and " +
                                      std::to_string(second + chunk) + ", retrieved with offset " +
                                      std::to_string(offset));
  }
}

// A client takes the matches it wants, in the order it likes.
void some_in_any_order(Case& test) {
  BlendPlayer player = registered_blend_player(test, 6);
  const std::size_t chunk = player.chunk_size();
  const Stored source = stored(test, player, 4);
  const Tokens query = player.query({std::size_t{1}, source.document});
  const Key key = player.key(query);
  const CBMatchResults matches = player.expect_matches(
      key, {{1, 0}, {1 + chunk, chunk}, {1 + 2 * chunk, 2 * chunk}, {1 + 3 * chunk, 3 * chunk}},
      "of the document");
  const Bytes before = player.image();
  player.retrieve_ok(key, {matches[3], matches[0], matches[2]}, 2);
  Bytes expected = player.with(before, 3 + 3 * chunk, source.chunks[3]);
  expected = player.with(expected, 3, source.chunks[0]);
  expected = player.with(expected, 3 + 2 * chunk, source.chunks[2]);
  player.expect_image(expected, "the fourth, first and third match, in that order");
  player.retrieve_ok(key, {matches[1]}, 2, "the second match, which is still locked");
  player.expect_image(player.with(expected, 3 + chunk, source.chunks[1]), "the second match");
}

// cur_st says where a chunk goes; of the other three numbers nothing depends.
void cur_st_decides(Case& test) {
  BlendPlayer player = registered_blend_player(test, 5);
  const std::size_t chunk = player.chunk_size();
  const Stored source = stored(test, player, 1);
  const Key key = player.key(source.document);
  CBMatchResults matches = player.expect_matches(key, {{0, 0}}, "of the document");
  matches[0].cur_st = Int(2 * chunk + 1);
  matches[0].cur_ed = Int(3 * chunk + 1);
  const Bytes before = player.image();
  player.retrieve_ok(key, matches, 1);
  player.expect_image(player.with(before, 2 * chunk + 2, source.chunks[0]),
                      "a match whose cur_st the client has changed");
}

// Two matches of one chunk are two copies, and two locks.
void one_chunk_twice(Case& test) {
  BlendPlayer player = registered_blend_player(test, 5);
  const std::size_t chunk = player.chunk_size();
  const Stored source = stored(test, player, 2);
  const Key key = player.key(source.document);
  const std::vector<MatchPlace> places = {{0, 0}, {chunk, chunk}};
  CBMatchResults matches = player.expect_matches(key, places, "of the document");
  CBMatchResults again = player.expect_matches(key, places, "of the document again");
  again[0].cur_st = Int(2 * chunk + 3);
  again[0].cur_ed = Int(3 * chunk + 3);
  const Bytes before = player.image();
  player.retrieve_ok(key, {matches[0], matches[1], again[0]});
  Bytes expected = player.with(before, 0, source.contents);
  expected = player.with(expected, 2 * chunk + 3, source.chunks[0]);
  player.expect_image(expected, "a chunk that two matches name, looked up twice");
}

void other_instance(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const Stored source = stored(test, player, 2);
  const std::size_t chunk = player.chunk_size();
  BlendPlayer other(test, blend_shape(test, 7), player.model_name());
  other.register_buffer();
  other.fill(test.random()());
  const Bytes before = other.image();
  const Bytes of_first = player.image();
  const Key key = other.key(other.query({std::size_t{4 * chunk}, source.document}));
  const CBMatchResults matches = other.expect_matches(key, {{4 * chunk, 0}, {5 * chunk, chunk}},
                                                      "of what another instance stored");
  other.retrieve_ok(key, matches, 1);
  other.expect_image(other.with(before, 4 * chunk + 1, source.contents),
                     "another instance's document, in a buffer of another length");
  player.expect_image(of_first, "the buffer of the instance that stored it");
}

struct Miss {
  std::string what;
  std::function<void(CBMatchResults&)> spoil;
};

void not_all_found(Case& test) {
  BlendPlayer player = registered_blend_player(test, 4);
  const std::size_t chunk = player.chunk_size();
  const Stored source = stored(test, player, 3);
  const std::vector<Miss> misses = {
      {"a hash that nothing was stored under",
       [](CBMatchResults& matches) { matches[1].hash = Bytes(32, 0x77); }},
      {"a hash of 31 bytes", [](CBMatchResults& matches) { matches[2].hash.pop_back(); }},
      {"a hash of 33 bytes", [](CBMatchResults& matches) { matches[2].hash.push_back(0); }},
      {"an empty hash", [](CBMatchResults& matches) { matches[0].hash.clear(); }},
  };
  for (const Miss& miss : misses) {
    test.step(miss.what);
    const Key key = player.key(source.document);
    CBMatchResults matches = player.expect_matches(
        key, {{0, 0}, {chunk, chunk}, {2 * chunk, 2 * chunk}}, "of the document");
    miss.spoil(matches);
    const Bytes before = player.image();
    const TransferResult result = player.retrieve(key, matches);
    test.expect(!result.ok, "False for matches of which one has " + miss.what,
                describe(Value(result)));
    player.expect_image(before, "a retrieve with " + miss.what);
  }
  test.step("after them");
  const Key key = player.key(source.document);
  const CBMatchResults matches = player.expect_matches(
      key, {{0, 0}, {chunk, chunk}, {2 * chunk, 2 * chunk}}, "after the retrieves that failed");
  const Bytes before = player.image();
  player.retrieve_ok(key, matches, 3);
  player.expect_image(player.with(before, 3, source.contents), "the next good retrieve");
}

}  // namespace

void add_blend_retrieve_cases(CaseList& cases) {
  cases.add({"Blend.RetrieveIsExactAtOddPlaces",
             {"blend.retrieve-exact", "blend.retrieve-untouched"},
             "Each match's chunk is at tokens [offset + cur_st, …), and nothing else changed.",
             kBlendV2Needs,
             exact_at_odd_places});
  cases.add({"Blend.RetrievesSomeInAnyOrder",
             {"blend.retrieve-exact", "blend.retrieve-releases"},
             "Some of the matches can be retrieved, in any order, and the others later.",
             kBlendV2Needs,
             some_in_any_order});
  cases.add({"Blend.CurStSaysWhere",
             {"blend.retrieve-exact"},
             "The chunk goes where the match in the request says.",
             kBlendV2Needs,
             cur_st_decides});
  cases.add({"Blend.RetrievesAChunkTwice",
             {"blend.retrieve-exact"},
             "Two matches with the same hash in one request are two copies.",
             kBlendV2Needs,
             one_chunk_twice});
  cases.add({"Blend.RetrievesIntoAnotherInstance",
             {"blend.retrieve-exact", "blend.retrieve-untouched"},
             "What one instance stored another of its model retrieves into its own buffer.",
             kBlendV2Needs,
             other_instance});
  cases.add({"Blend.NotAllFoundIsFalse",
             {"blend.retrieve-all-or-nothing"},
             "When one match is not there, the answer is False and nothing is written.",
             kBlendV2Needs,
             not_all_found});
}

}  // namespace kvc::conformance
