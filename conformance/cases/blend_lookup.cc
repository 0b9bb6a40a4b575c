// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend, lookup of the second generation: what CB_LOOKUP_PRE_COMPUTED_V2 finds, where, and in which
// order.
#include <algorithm>

#include "conformance/cases/blend_cases.h"
#include "conformance/harness/blend_player.h"

namespace kvc::conformance {
namespace {

Tokens stored_document(BlendPlayer& player, std::size_t num_chunks) {
  Tokens document = player.document(num_chunks);
  player.store_ok(player.key(document));
  return document;
}

void at_every_position(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const Tokens document = stored_document(player, 3);
  const std::size_t chunk = player.chunk_size();
  for (const std::size_t before : {std::size_t{0}, std::size_t{1}, std::size_t{7}, chunk - 1, chunk,
                                   chunk + 1, 3 * chunk - 1}) {
    test.step("behind " + std::to_string(before) + " tokens");
    const Tokens query = player.query({before, document, std::size_t{3}});
    player.expect_matches(
        player.key(query), {{before, 0}, {before + chunk, chunk}, {before + 2 * chunk, 2 * chunk}},
        "of a document that was stored, behind " + std::to_string(before) + " other tokens");
  }
}

void at_both_ends(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  const Tokens document = stored_document(player, 2);
  const std::size_t chunk = player.chunk_size();
  player.expect_matches(player.key(player.part(document, 1, 2)), {{0, chunk}},
                        "of a query that is one stored chunk");
  const Tokens query = player.query({std::size_t{chunk / 2 + 1}, player.part(document, 0, 1)});
  player.expect_matches(player.key(query), {{chunk / 2 + 1, 0}},
                        "of a query that ends with a stored chunk");
  const Tokens cut(query.begin(), query.end() - 1);
  player.expect_matches(player.key(cut), {}, "of a query that ends within a stored chunk");
}

void short_queries(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  const Tokens document = stored_document(player, 2);
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, player.chunk_size() - 1}) {
    const Tokens query(document.begin(), document.begin() + static_cast<std::ptrdiff_t>(length));
    player.expect_matches(player.key(query), {}, "of " + std::to_string(length) + " tokens");
  }
}

// Sorted by the place in the query, whatever the order in which the chunks were stored.
void sorted_by_place(Case& test) {
  BlendPlayer player = registered_blend_player(test, 4);
  const Tokens first = stored_document(player, 4);
  const Tokens second = stored_document(player, 2);
  const std::size_t chunk = player.chunk_size();
  const Tokens query =
      player.query({player.part(second, 1, 2), std::size_t{3}, player.part(first, 3, 4),
                    std::size_t{1}, player.part(first, 0, 1), std::size_t{chunk},
                    player.part(second, 0, 1), std::size_t{2}, player.part(first, 1, 2)});
  player.expect_matches(player.key(query),
                        {{0, chunk},
                         {chunk + 3, 3 * chunk},
                         {2 * chunk + 4, 0},
                         {4 * chunk + 4, 0},
                         {5 * chunk + 6, chunk}},
                        "of chunks in another order than they were stored in");
}

// Two documents that hold the same tokens, half a chunk apart: at most one of two chunks that
// overlap is answered, and it is the one that begins first.
void leftmost_without_overlap(Case& test) {
  BlendPlayer player = registered_blend_player(test, 4);
  const std::size_t chunk = player.chunk_size();
  const std::size_t half = chunk / 2;
  const Tokens whole = player.document(4);
  const Tokens first = player.part(whole, 0, 2);
  const Tokens shifted(whole.begin() + static_cast<std::ptrdiff_t>(half),
                       whole.begin() + static_cast<std::ptrdiff_t>(half + 3 * chunk));
  player.store_ok(player.key(first));
  player.store_ok(player.key(shifted), 0, "CB_STORE_PRE_COMPUTED of the same, half a chunk later");

  // first:    [0, c) [c, 2c)                  shifted: [h, h+c) [h+c, h+2c) [h+2c, h+3c)
  player.expect_matches(player.key(whole), {{0, 0}, {chunk, chunk}, {half + 2 * chunk, 2 * chunk}},
                        "of two documents that overlap");
  const Tokens later(whole.begin() + 1, whole.end());
  player.expect_matches(
      player.key(later),
      {{half - 1, 0}, {half - 1 + chunk, chunk}, {half - 1 + 2 * chunk, 2 * chunk}},
      "of the same without the first token, so that the other document begins");
}

void every_occurrence(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  const Tokens document = stored_document(player, 2);
  const std::size_t chunk = player.chunk_size();
  const Tokens again = player.part(document, 0, 1);
  const Tokens query = player.query({document, std::size_t{3}, again, again});
  player.expect_matches(player.key(query),
                        {{0, 0}, {chunk, chunk}, {2 * chunk + 3, 0}, {3 * chunk + 3, 0}},
                        "of a query that holds a chunk three times");
}

// All tokens equal: every window is the chunk. old_st may be any of the document's.
void self_similar(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const std::size_t chunk = player.chunk_size();
  const Tokens same(3 * chunk, player.document(1).front());
  player.store_ok(player.key(same));
  const Tokens query(5 * chunk + 1, same.front());
  const CBMatchResults matches = player.lookup(player.key(query));
  bool right = matches.size() == 5;
  for (std::size_t i = 0; right && i < matches.size(); ++i)
    right = matches[i].cur_st == Int(i * chunk) && matches[i].cur_ed == Int((i + 1) * chunk);
  test.expect(right,
              "five matches, one behind the other, in 5 * chunk + 1 equal tokens, where three "
              "chunks of that token were stored",
              describe(Value(matches)));
}

void ignores_start_and_end(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  const Tokens document = stored_document(player, 2);
  const std::size_t chunk = player.chunk_size();
  const Tokens query = player.query({std::size_t{3}, document});
  for (const auto& [start, end] : {std::pair<Int, Int>{0, 0}, {chunk, 2 * chunk}, {5, 1}, {0, 7}}) {
    Key key = player.key(query);
    key.start = start;
    key.end = end;
    player.expect_matches(key, {{3, 0}, {3 + chunk, chunk}},
                          "with [start, end) = [" + start.to_string() + ", " + end.to_string() +
                              "), which say nothing here");
  }
}

// The hash is the chunk's own, wherever it is found, and another for each chunk of a document.
void hash_of_the_chunk(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const Tokens document = stored_document(player, 3);
  const std::size_t chunk = player.chunk_size();
  const CBMatchResults in_place = player.expect_matches(
      player.key(document), {{0, 0}, {chunk, chunk}, {2 * chunk, 2 * chunk}}, "of the document");
  const Tokens turned =
      player.query({std::size_t{9}, player.part(document, 2, 3), std::size_t{9},
                    player.part(document, 0, 1), std::size_t{9}, player.part(document, 1, 2)});
  const CBMatchResults moved = player.expect_matches(
      player.key(turned), {{9, 2 * chunk}, {18 + chunk, 0}, {27 + 2 * chunk, chunk}},
      "of its chunks in another order");
  for (const auto& [at, in] : {std::pair<std::size_t, std::size_t>{0, 2}, {1, 0}, {2, 1}})
    test.expect(moved[at].hash == in_place[in].hash, "the same hash for the same stored chunk",
                to_hex(moved[at].hash) + " and " + to_hex(in_place[in].hash));
  test.expect(in_place[0].hash != in_place[1].hash && in_place[1].hash != in_place[2].hash &&
                  in_place[0].hash != in_place[2].hash,
              "another hash for each chunk", describe(Value(in_place)));
}

// The same content behind two prefixes has two hashes: old_st and hash are of one of them, both.
void one_content_of_two_documents(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const std::size_t chunk = player.chunk_size();
  const Tokens first = stored_document(player, 2);
  const Tokens second = player.query({player.document(2), player.part(first, 0, 1)});
  player.store_ok(player.key(second));
  const Tokens query = player.query({std::size_t{5}, player.part(first, 0, 1), std::size_t{2}});
  const CBMatchResults matches = player.lookup(player.key(query));
  const bool one = matches.size() == 1 && matches[0].cur_st == Int(5);
  test.expect(one && (matches[0].old_st == Int(0) || matches[0].old_st == Int(2 * chunk)),
              "one match at token 5, from token 0 of one document or " + std::to_string(2 * chunk) +
                  " of the other",
              describe(Value(matches)));
}

}  // namespace

void add_blend_lookup_cases(CaseList& cases) {
  cases.add({"Blend.LooksAtEveryPosition",
             {"blend.every-position"},
             "Stored chunks are found behind any number of other tokens.",
             kBlendV2Needs,
             at_every_position});
  cases.add({"Blend.LooksToBothEnds",
             {"blend.every-position"},
             "A chunk at the very end of a query is found, one that is cut is not.",
             kBlendV2Needs,
             at_both_ends});
  cases.add({"Blend.ShortQueriesHaveNoMatch",
             {"blend.every-position"},
             "A query of less than a chunk is answered with an empty list.",
             kBlendV2Needs,
             short_queries});
  cases.add({"Blend.MatchesAreInOrder",
             {"blend.order"},
             "Matches are sorted by their place in the query, whenever they were stored.",
             kBlendV2Needs,
             sorted_by_place});
  cases.add({"Blend.LeftmostWithoutOverlap",
             {"blend.order"},
             "Of chunks that overlap in the query the leftmost is answered, and no other.",
             kBlendV2Needs,
             leftmost_without_overlap});
  cases.add({"Blend.FindsEveryOccurrence",
             {"blend.every-occurrence"},
             "A stored chunk that is in the query three times is found three times.",
             kBlendV2Needs,
             every_occurrence});
  cases.add({"Blend.FindsSelfSimilarTokens",
             {"blend.every-occurrence"},
             "Where all tokens are equal, chunk after chunk is found, none overlapping.",
             kBlendV2Needs,
             self_similar});
  cases.add({"Blend.LookupIgnoresStartAndEnd",
             {"blend.lookup-whole"},
             "The whole query is looked at, whatever start and end of the key are.",
             kBlendV2Needs,
             ignores_start_and_end});
  cases.add({"Blend.HashNamesTheStoredChunk",
             {"blend.match-fields"},
             "The hash of a match is that of the stored chunk, wherever it is found.",
             kBlendV2Needs,
             hash_of_the_chunk});
  cases.add({"Blend.OneContentOfTwoDocuments",
             {"blend.match-fields"},
             "A content that was stored behind two prefixes is one match, of one of them.",
             kBlendV2Needs,
             one_content_of_two_documents});
}

}  // namespace kvc::conformance
