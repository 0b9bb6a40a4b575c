// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// expect_serves: an instance is served as it should be, whatever happened before.
#pragma once

#include <string>

#include "conformance/harness/case.h"
#include "conformance/harness/engine_player.h"

namespace kvc::conformance {

// One chunk through `player`, exact: stored from its first blocks, retrieved into the next ones.
// `what` names the instance in a failure.
void expect_serves(Case& test, EnginePlayer& player, const std::string& what);

}  // namespace kvc::conformance
