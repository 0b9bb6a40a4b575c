// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend, fingerprints: equal tokens decide. Whatever a server finds chunks by, other tokens are no
// match, two chunks never take each other's place, and there is no number of chunks from which on
// some are forgotten. The tokens collide in the fingerprint of 0.4.5, in all its 64 bits.
#include "conformance/cases/blend_cases.h"
#include "conformance/harness/blend_fingerprint.h"
#include "conformance/harness/blend_player.h"

namespace kvc::conformance {
namespace {

void equal_tokens_decide(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  const std::size_t chunk = player.chunk_size();
  const Tokens document = player.document(1);
  player.store_ok(player.key(document));
  const Tokens other = colliding_with(document);
  const Tokens query = player.query({other, std::size_t{3}, document});
  player.expect_matches(player.key(other), {}, "of tokens that were never stored");
  player.expect_matches(player.key(query), {{chunk + 3, 0}},
                        "of tokens that were never stored, and the stored ones behind them");
}

void both_are_found(Case& test) {
  BlendPlayer player = registered_blend_player(test, 4);
  const std::size_t chunk = player.chunk_size();
  const Tokens document = player.document(1);
  const Tokens other = colliding_with(document);
  player.fill(test.random()());
  const Bytes first = player.chunk_at(0);
  const Bytes second = player.chunk_at(chunk);
  player.store_ok(player.key(document));
  player.store_ok(player.key(other), Int(chunk));
  player.fill(test.random()());
  const Bytes before = player.image();
  const Tokens query = player.query({std::size_t{1}, other, std::size_t{2}, document});
  const Key key = player.key(query);
  const CBMatchResults matches =
      player.expect_matches(key, {{1, 0}, {chunk + 3, 0}}, "of two stored chunks that collide");
  player.retrieve_ok(key, matches);
  player.expect_image(player.with(player.with(before, 1, second), chunk + 3, first),
                      "two stored chunks that collide");
}

// The last of many chunks collides with the first, so that a table with a slot for each loses one.
void many_chunks(Case& test) {
  constexpr std::size_t kNumChunks = 1024;
  BlendShape shape;
  shape.num_tokens = test.chunk_size() * kNumChunks;
  shape.num_layers = 1;
  shape.hidden_size = 1;
  shape.dtype = "uint8";
  BlendPlayer player(test, shape, test.unique("blend"));
  player.register_buffer();
  const std::size_t chunk = player.chunk_size();
  Tokens document = player.document(1);
  const Tokens last = colliding_with(document);
  const Tokens middle = fresh_token_ids(test, (kNumChunks - 2) * chunk);
  document.insert(document.end(), middle.begin(), middle.end());
  document.insert(document.end(), last.begin(), last.end());
  player.store_ok(player.key(document));
  Tokens query = {17};
  query.insert(query.end(), document.begin(), document.end());
  const CBMatchResults matches = player.lookup(player.key(query));
  std::size_t num_right = 0;
  for (const CBMatchResult& match : matches) {
    const std::uint64_t old_st = match.old_st.as_u64().value_or(1);
    num_right += old_st % chunk == 0 && match.cur_st == Int(old_st + 1);
  }
  test.expect_equal(Int(num_right), Int(kNumChunks), "matches that are right");
  test.expect_equal(Int(matches.size()), Int(kNumChunks), "matches");
}

}  // namespace

void add_blend_fingerprint_cases(CaseList& cases) {
  cases.add({"BlendFingerprints.EqualTokensDecide",
             {"blend.equal-tokens"},
             "Tokens that only share a fingerprint with stored ones are no match.",
             kBlendV2Needs,
             equal_tokens_decide});
  cases.add({"BlendFingerprints.FindsBothThatCollide",
             {"blend.finds-all"},
             "Two stored chunks that share a fingerprint are found, each with its own bytes.",
             kBlendV2Needs,
             both_are_found});
  cases.add({"BlendFingerprints.FindsAllOfMany",
             {"blend.finds-all", "blend.order"},
             "All of 1024 stored chunks are found in one query, one token further on.",
             kBlendV2Needs,
             many_chunks});
}

}  // namespace kvc::conformance
