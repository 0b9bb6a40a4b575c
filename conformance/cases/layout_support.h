// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What the layout cases share: the six layouts, a shape of each that is small and hides no wrong
// stride, and the round trip that all of them make. Used on the thread of a case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/cases/data_cases.h"
#include "conformance/harness/engine_player.h"

namespace kvc::conformance {

struct LayoutName {
  KvFormat format;
  std::string id;     // "TwoNbBsNhHs": a case's id begins with it
  std::string words;  // "per layer [2, NB, BS, NH, HS] (NHD)"

  bool mla() const { return format == KvFormat::kNlXNbBsHs; }
  bool pool() const { return format == KvFormat::kNbNlTwoNhBsHs; }
};

// All six, in the order of KvFormat.
const std::vector<LayoutName>& layout_names();

// Blocks of a sixteenth of a chunk where that can be, so that a chunk has many; two layers, three
// heads of four elements, five chunks.
EngineShape layout_shape(Case& test, KvFormat format);

// `num_chunks` chunks go from scattered blocks through the server into other scattered blocks, and
// with `skip` the leading blocks stay as they are. Every byte of every tensor is compared after the
// STORE and after the RETRIEVE. REQUIRES: the player is registered, and has 2 * num_chunks chunks.
void expect_round_trip(Case& test, EnginePlayer& player, std::size_t num_chunks = 2,
                       std::uint64_t skip_tokens = 0);

// A case "Layout.<id>" that makes a round trip of two chunks with a player of `shape`.
struct LayoutCase {
  std::string id;
  std::string claim;
  std::string requirement;
  std::function<EngineShape(Case&)> shape;
};
void add_round_trip(CaseList& cases, const LayoutCase& layout_case);

}  // namespace kvc::conformance
