// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend, forgetting: after CLEAR and eviction no match is left behind, and what is stored again is
// found again.
#include <algorithm>
#include <chrono>

#include "conformance/cases/blend_cases.h"
#include "conformance/harness/blend_player.h"
#include "conformance/harness/run_context.h"

namespace kvc::conformance {
namespace {

void expect_exact(BlendPlayer& player, const Tokens& document, const Bytes& contents,
                  const std::string& what) {
  const Key key = player.key(document);
  const CBMatchResults matches = player.expect_matches(key, {{0, 0}}, what);
  player.stamp(0x3c);
  const Bytes before = player.image();
  player.retrieve_ok(key, matches, 1);
  player.expect_image(player.with(before, 1, contents), what);
}

void clear_leaves_no_match(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const Tokens document = player.document(1);
  const Tokens other = player.document(1);
  player.store_ok(player.key(document));
  player.store_ok(player.key(other, "", "tenant"));
  player.expect_matches(player.key(document), {{0, 0}}, "before CLEAR");
  player.clear();
  player.expect_matches(player.key(document), {}, "after CLEAR");
  player.expect_matches(player.key(other, "", "tenant"), {}, "of another tenant after CLEAR");
  player.fill(test.random()());
  const Bytes contents = player.chunk_at(0);
  player.store_ok(player.key(document), 0, "CB_STORE_PRE_COMPUTED after CLEAR");
  expect_exact(player, document, contents, "of what was stored again after CLEAR");
}

void clear_of_locked(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const Tokens document = player.document(1);
  player.store_ok(player.key(document));
  const Key key = player.key(document);
  const CBMatchResults matches = player.expect_matches(key, {{0, 0}}, "before CLEAR");
  player.clear();
  player.stamp(4);
  const Bytes before = player.image();
  const TransferResult gone = player.retrieve(key, matches);
  test.expect(!gone.ok, "False for a match from before CLEAR", describe(Value(gone)));
  player.expect_image(before, "a retrieve of a match from before CLEAR");
}

// What is stored again without a question in between.
void stored_again(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const Tokens document = player.document(1);
  player.store_ok(player.key(document));
  player.clear();
  player.fill(test.random()());
  const Bytes contents = player.chunk_at(0);
  player.store_ok(player.key(document), 0, "CB_STORE_PRE_COMPUTED after CLEAR");
  expect_exact(player, document, contents, "of what was stored again after CLEAR");
}

// A chunk takes about this part of the cache.
constexpr std::uint64_t kChunksOfACache = 40;

BlendShape big_shape(Case& test) {
  const std::optional<std::uint64_t> bytes = test.context().cache_bytes();
  if (!bytes) test.harness("the size of the cache is not known");
  BlendShape shape;
  shape.num_tokens = test.chunk_size() + 1;
  shape.num_layers = 1;
  shape.dtype = "float32";
  shape.hidden_size =
      std::max<std::size_t>(1, *bytes / kChunksOfACache / test.chunk_size() / 2 / sizeof(float));
  return shape;
}

// Gives its locks back, so that it can be evicted.
bool found(BlendPlayer& player, const Tokens& document) {
  const Key key = player.key(document);
  const bool is_there = !player.lookup(key).empty();
  if (is_there) player.free_locks(key);
  player.end_session(key.request_id);
  return is_there;
}

void evicted_is_not_found(Case& test) {
  BlendPlayer player(test, big_shape(test), test.unique("blend"));
  player.register_buffer();
  player.clear();
  const Tokens document = player.document(1);
  player.store_ok(player.key(document));
  test.expect(found(player, document), "a match of what was just stored", "none");
  // A server may evict when it needs room, or from time to time and store nothing meanwhile.
  const auto until = std::chrono::steady_clock::now() + test.context().settings().timeout;
  std::size_t num_stored = 0;
  while (num_stored < kChunksOfACache * 5 / 4) {
    const Tokens another = player.document(1);
    player.store(player.key(another));
    if (found(player, another))
      ++num_stored;
    else if (std::chrono::steady_clock::now() > until)
      test.wrong("what is stored is found in time", "it never was");
  }
  player.expect_matches(player.key(document), {}, "of what was evicted since");
  player.stamp(0x77);
  const Bytes contents = player.chunk_at(0);
  player.store_ok(player.key(document), 0, "CB_STORE_PRE_COMPUTED of what was evicted");
  expect_exact(player, document, contents, "of what was stored again after its eviction");
  player.clear();  // whoever comes next has room
}

}  // namespace

void add_blend_forget_cases(CaseList& cases) {
  cases.add({"Blend.ClearLeavesNoMatch",
             {"blend.only-stored"},
             "After CLEAR nothing is found; what is stored again is found, with its new bytes.",
             kBlendV2Needs,
             clear_leaves_no_match});
  cases.add({"Blend.ClearDropsWhatIsLocked",
             {"blend.only-stored", "clear.locked"},
             "A match from before CLEAR retrieves nothing.",
             kBlendV2Needs,
             clear_of_locked});
  cases.add({"Blend.StoredAgainAfterClear",
             {"blend.only-stored"},
             "What is stored again right after CLEAR is found, with its new bytes.",
             kBlendV2Needs,
             stored_again});
  cases.add({"Blend.EvictedIsNotFound",
             {"blend.only-stored"},
             "What was evicted is not found; stored again it is.",
             {Capability::kBlendV2, Capability::kDevice, Capability::kSmallCache},
             evicted_is_not_found});
}

}  // namespace kvc::conformance
