// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend, tenants: salt, model and world_size keep apart what is found, and what one of them asks
// changes nothing for the others.
#include "conformance/cases/blend_cases.h"
#include "conformance/harness/blend_player.h"

namespace kvc::conformance {
namespace {

constexpr const char* kSalt = "tenant-a";
constexpr const char* kOtherSalt = "tenant-b";

void salts_apart(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  const std::size_t chunk = player.chunk_size();
  const Tokens document = player.document(1);
  const Tokens other_document = player.document(1);
  player.store_ok(player.key(document, "", kSalt));
  player.store_ok(player.key(other_document, "", kOtherSalt));
  // Each asks for its own first: what a stranger's question may do is a rule of its own.
  const Tokens query = player.query({std::size_t{3}, document, std::size_t{chunk}, other_document});
  player.expect_matches(player.key(query, "", kSalt), {{3, 0}}, "with the first tenant's salt");
  player.expect_matches(player.key(other_document, "", kSalt), {},
                        "with the first tenant's salt, of the second's document");
  player.expect_matches(player.key(document, "", kOtherSalt), {},
                        "with the second tenant's salt, of the first's document");
  player.expect_matches(player.key(document), {}, "without salt");
}

void salt_of_the_retrieve(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  const Tokens document = player.document(1);
  player.store_ok(player.key(document, "", kSalt));
  const Key key = player.key(document, "", kSalt);
  const CBMatchResults matches = player.expect_matches(key, {{0, 0}}, "with the tenant's salt");
  player.stamp(9);
  const Bytes before = player.image();
  const TransferResult stolen = player.retrieve(player.key(document, "", kOtherSalt), matches);
  test.expect(!stolen.ok, "False for another tenant's matches", describe(Value(stolen)));
  player.expect_image(before, "a retrieve of another tenant's matches");
}

// Two tenants with the same tokens have each their own bytes.
void same_tokens(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  const Tokens document = player.document(1);
  std::vector<Bytes> contents;
  for (const char* salt : {kSalt, kOtherSalt, ""}) {
    player.fill(test.random()());
    contents.push_back(player.chunk_at(0));
    player.store_ok(player.key(document, "", salt));
  }
  std::size_t i = 0;
  for (const char* salt : {kSalt, kOtherSalt, ""}) {
    test.step("salt '" + std::string(salt) + "'");
    player.fill(test.random()());
    const Bytes before = player.image();
    const Key key = player.key(player.query({std::size_t{2}, document}), "", salt);
    const CBMatchResults matches = player.expect_matches(key, {{2, 0}}, "of the shared tokens");
    player.retrieve_ok(key, matches);
    player.expect_image(player.with(before, 2, contents[i++]), "the tenant's own bytes");
  }
}

void models_and_worlds_apart(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  BlendPlayer other_model = registered_blend_player(test, 2);
  BlendPlayer other_world(test, blend_shape(test, 2), player.model_name(), Int(2));
  other_world.register_buffer();
  const Tokens document = player.document(1);
  player.store_ok(player.key(document));
  player.expect_matches(player.key(document), {{0, 0}}, "of its own model");
  other_model.expect_matches(other_model.key(document), {}, "of another model's document");
}

void worlds_apart(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  BlendPlayer other_world(test, blend_shape(test, 2), player.model_name(), Int(2));
  other_world.register_buffer();
  const Tokens document = player.document(1);
  player.store_ok(player.key(document));
  player.expect_matches(player.key(document), {{0, 0}}, "of its own world");
  other_world.expect_matches(other_world.key(document), {}, "of another world's document");
}

// A stranger asks, and misses; then the owner asks.
void stranger_changes_nothing(Case& test, const std::function<void(const Tokens&)>& ask,
                              BlendPlayer& player) {
  const std::size_t chunk = player.chunk_size();
  const Tokens document = player.document(2);
  player.store_ok(player.key(document));
  ask(document);
  const Tokens query = player.query({std::size_t{3}, document});
  player.expect_matches(player.key(query), {{3, 0}, {3 + chunk, chunk}},
                        "after somebody else asked for the same tokens");
  test.checked();
}

void other_salt_changes_nothing(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  stranger_changes_nothing(
      test,
      [&](const Tokens& tokens) {
        player.expect_matches(player.key(tokens, "", kOtherSalt), {}, "with another salt");
      },
      player);
}

void other_model_changes_nothing(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  BlendPlayer stranger = registered_blend_player(test, 3);
  stranger_changes_nothing(
      test,
      [&](const Tokens& tokens) {
        stranger.expect_matches(stranger.key(tokens), {}, "of another model");
      },
      player);
}

void other_world_changes_nothing(Case& test) {
  BlendPlayer player = registered_blend_player(test, 3);
  BlendPlayer stranger(test, blend_shape(test, 3), player.model_name(), Int(2));
  stranger.register_buffer();
  stranger_changes_nothing(
      test,
      [&](const Tokens& tokens) {
        stranger.expect_matches(stranger.key(tokens), {}, "of another world_size");
      },
      player);
}

// Worker 0's chunk is asked for before worker 1 has stored its part.
void early_lookup_changes_nothing(Case& test) {
  BlendPlayer player(test, blend_shape(test, 2), test.unique("blend"), Int(2));
  player.register_buffer();
  const Tokens document = player.document(1);
  Key key = player.key(document);
  player.store_ok(key, 0, "CB_STORE_PRE_COMPUTED of worker 0");
  player.expect_matches(key, {}, "of a chunk that worker 1 has not stored");
  key.worker_id = 1;
  player.store_ok(key, 0, "CB_STORE_PRE_COMPUTED of worker 1");
  player.expect_matches(key, {{0, 0}}, "of what both workers have stored now");
}

// In the query a stranger's chunk is right before the tenant's own.
void stranger_hides_nothing(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  const std::size_t chunk = player.chunk_size();
  const Tokens strangers = player.document(1);
  const Tokens own = player.document(1);
  player.store_ok(player.key(strangers, "", kOtherSalt));
  player.store_ok(player.key(own, "", kSalt));
  const Tokens query = player.query({std::size_t{2}, strangers, own});
  player.expect_matches(player.key(query, "", kSalt), {{2 + chunk, 0}},
                        "of one's own chunk behind another tenant's");
}

// The stranger's chunk covers the beginning of the tenant's own.
void stranger_covers_nothing(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  const std::size_t chunk = player.chunk_size();
  const Tokens whole = player.document(2);
  const auto half = static_cast<std::ptrdiff_t>(chunk / 2);
  const Tokens own(whole.begin() + half, whole.begin() + half + static_cast<std::ptrdiff_t>(chunk));
  player.store_ok(player.key(player.part(whole, 0, 1), "", kOtherSalt));
  player.store_ok(player.key(own, "", kSalt));
  player.expect_matches(player.key(whole, "", kSalt), {{chunk / 2, 0}},
                        "of one's own chunk, which another tenant's overlaps");
}

void no_buffer_no_match(Case& test) {
  BlendPlayer player = registered_blend_player(test, 2);
  const Tokens document = player.document(1);
  player.store_ok(player.key(document));
  player.expect_matches(player.key(document), {{0, 0}}, "while a buffer is registered");
  Key key = player.key(document);
  key.model_name = test.unique("nobody");
  player.expect_matches(key, {}, "of a model without a blend buffer");
  key = player.key(document);
  key.world_size = Int(3);
  player.expect_matches(key, {}, "of a world_size without a blend buffer");
  player.unregister_buffer();
  player.expect_matches(player.key(document), {}, "after the only buffer was unregistered");
  player.register_buffer();
  player.expect_matches(player.key(document), {{0, 0}}, "when a buffer is registered again");
}

}  // namespace

void add_blend_tenant_cases(CaseList& cases) {
  const auto add = [&](const char* id, std::vector<std::string> proves, const char* claim,
                       std::function<void(Case&)> body) {
    cases.add({id, std::move(proves), claim, kBlendV2Needs, std::move(body)});
  };
  add("Blend.SaltsAreApart", {"blend.apart"}, "A chunk is found with its own salt only.",
      salts_apart);
  add("Blend.RetrieveIsOfItsSalt", {"blend.apart", "blend.retrieve-untouched"},
      "Another tenant's matches retrieve nothing.", salt_of_the_retrieve);
  add("Blend.TenantsWithTheSameTokens", {"blend.apart", "blend.retrieve-exact"},
      "Tenants that stored the same tokens get each their own bytes.", same_tokens);
  add("Blend.ModelsAreApart", {"blend.apart"}, "A chunk is found with its own model only.",
      models_and_worlds_apart);
  add("Blend.WorldSizesAreApart", {"blend.apart"}, "A chunk is found with its own world_size only.",
      worlds_apart);
  add("Blend.LookupWithAnotherSaltChangesNothing", {"blend.lookup-changes-nothing"},
      "What a lookup with another salt missed is still found by its owner.",
      other_salt_changes_nothing);
  add("Blend.LookupOfAnotherModelChangesNothing", {"blend.lookup-changes-nothing"},
      "What a lookup of another model missed is still found by its owner.",
      other_model_changes_nothing);
  add("Blend.LookupOfAnotherWorldChangesNothing", {"blend.lookup-changes-nothing"},
      "What a lookup of another world_size missed is still found by its owner.",
      other_world_changes_nothing);
  add("Blend.EarlyLookupChangesNothing", {"blend.lookup-changes-nothing"},
      "A chunk that was asked for before all workers had stored it is found after.",
      early_lookup_changes_nothing);
  add("Blend.StrangersChunkHidesNothing", {"blend.apart"},
      "Another tenant's chunk in the query does not hide one's own behind it.",
      stranger_hides_nothing);
  add("Blend.StrangersChunkCoversNothing", {"blend.apart"},
      "Another tenant's chunk does not hide one's own that overlaps it.", stranger_covers_nothing);
  add("Blend.NoBufferNoMatch", {"blend.no-buffer"},
      "Without a registered blend buffer of model and world_size the list is empty.",
      no_buffer_no_match);
}

}  // namespace kvc::conformance
