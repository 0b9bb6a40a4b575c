// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Salt: cache_salt is part of the key in every request, so that tenants do not see each other.
#include "conformance/cases/data_cases.h"
#include "conformance/harness/engine_player.h"

namespace kvc::conformance {
namespace {

const std::vector<Capability> kNeeds = {Capability::kDevice};

void tenants_are_apart(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 6));
  const Tokens tokens = player.fresh_chunks(1);
  const std::vector<std::string> salts = {"tenant-a", "tenant-b", ""};
  std::vector<Contents> contents;
  for (std::size_t i = 0; i < salts.size(); ++i) {
    test.expect_equal(player.lookup(tokens, salts[i]), Int(0),
                      "chunks found by LOOKUP with salt \"" + salts[i] + "\" before its STORE");
    contents.push_back(player.fill(player.blocks(i), test.random()()));
    player.store_ok(player.key(tokens, "", salts[i]), player.blocks(i));
  }
  for (std::size_t i = 0; i < salts.size(); ++i) {
    const Key key = player.key(tokens, "", salts[i]);
    test.expect_equal(player.lookup(key), Int(1), "chunks found by LOOKUP");
    player.retrieve_ok(key, player.blocks(3 + i));
    player.expect_contents(player.blocks(3 + i), contents[i], "salt \"" + salts[i] + "\"");
  }
}

void retrieve_needs_the_salt(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 2));
  const Tokens tokens = player.fresh_chunks(1);
  const std::string id = test.unique("request");
  player.store_ok(player.key(tokens, id, "tenant-a"), player.blocks(0));
  test.expect_equal(player.lookup(player.key(tokens, id, "tenant-a")), Int(1),
                    "chunks found by LOOKUP");
  for (const char* other : {"", "tenant-b"}) {
    const TransferResult result = player.retrieve(player.key(tokens, id, other), player.blocks(1));
    test.expect(!result.ok, "RETRIEVE with another salt answers False", describe(Value(result)));
  }
  player.retrieve_ok(player.key(tokens, id, "tenant-a"), player.blocks(1), 0,
                     "RETRIEVE with the right salt");
}

void free_needs_the_salt(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 2));
  const Tokens tokens = player.fresh_chunks(1);
  const std::string id = test.unique("request");
  const Key salted = player.key(tokens, id, "tenant-a");
  player.store_ok(salted, player.blocks(0));
  player.lookup(salted);
  player.free_locks(player.key(tokens, id));
  player.free_locks(player.key(tokens, id, "tenant-b"));
  player.retrieve_ok(salted, player.blocks(1), 0, "RETRIEVE after FREEs with other salts");

  player.lookup(salted);
  player.free_locks(salted);
  const TransferResult result = player.retrieve(salted, player.blocks(1));
  test.expect(!result.ok, "RETRIEVE after the FREE with its salt answers False",
              describe(Value(result)));
}

void longest_salts(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 2));
  const Tokens tokens = player.fresh_chunks(1);
  std::string umlauts;
  for (int i = 0; i < 128; ++i) umlauts += "\xc3\xbc";
  for (const std::string& salt : {std::string(128, 's'), std::string(127, 's') + "t", umlauts,
                                  std::string(" "), std::string("a b:c|d")}) {
    test.step("salt of " + std::to_string(salt.size()) + " bytes");
    test.expect_equal(player.lookup(tokens, salt), Int(0), "chunks found before its STORE");
    player.store_ok(player.key(tokens, "", salt), player.blocks(0));
    test.expect_equal(player.lookup(tokens, salt), Int(1), "chunks found after its STORE");
  }
}

}  // namespace

void add_salt_cases(CaseList& cases) {
  cases.add({"Salt.TenantsAreApart",
             {"key.salt"},
             "The same tokens under two salts and without one are three objects.",
             kNeeds,
             tenants_are_apart});
  cases.add({"Salt.RetrieveNeedsIt",
             {"key.salt"},
             "RETRIEVE with another salt than the LOOKUP's is False.",
             kNeeds,
             retrieve_needs_the_salt});
  cases.add({"Salt.FreeNeedsIt",
             {"key.salt", "locks.free-range"},
             "FREE with another salt releases nothing, and with its own it does.",
             kNeeds,
             free_needs_the_salt});
  cases.add({"Salt.LongestAreTold",
             {"key.salt"},
             "Salts of 128 characters, ASCII or not, are each their own.",
             kNeeds,
             longest_salts});
}

}  // namespace kvc::conformance
