// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/cases/expect_serves.h"

namespace kvc::conformance {

void expect_serves(Case& test, EnginePlayer& player, const std::string& what) {
  const Tokens tokens = player.fresh_chunks(1);
  const Contents contents = player.fill(player.blocks(0), test.random()());
  const Key key = player.key(tokens);
  player.store_ok(key, player.blocks(0), what + ", STORE");
  test.expect_equal(player.lookup(key), Int(1), what + ", chunks found by LOOKUP");
  player.retrieve_ok(key, player.blocks(1), 0, what + ", RETRIEVE");
  player.expect_contents(player.blocks(1), contents, what);
}

}  // namespace kvc::conformance
