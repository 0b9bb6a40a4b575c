// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/cases/layout_support.h"

#include <algorithm>
#include <numeric>

namespace kvc::conformance {
namespace {

constexpr std::uint8_t kUntouched = 0xa5;

}  // namespace

const std::vector<LayoutName>& layout_names() {
  static const std::vector<LayoutName> all = {
      {KvFormat::kNlXTwoNbBsNhHs, "TwoNbBsNhHs", "per layer [2, NB, BS, NH, HS] (NHD)"},
      {KvFormat::kNlXTwoNbNhBsHs, "TwoNbNhBsHs", "per layer [2, NB, NH, BS, HS] (HND)"},
      {KvFormat::kNlXNbTwoBsNhHs, "NbTwoBsNhHs", "per layer [NB, 2, BS, NH, HS] (NHD)"},
      {KvFormat::kNlXNbTwoNhBsHs, "NbTwoNhBsHs", "per layer [NB, 2, NH, BS, HS] (HND)"},
      {KvFormat::kNlXNbBsHs, "NbBsHs", "per layer [NB, BS, HS] (MLA)"},
      {KvFormat::kNbNlTwoNhBsHs, "NbNlTwoNhBsHs", "one [NB, NL, 2, NH*BS*HS] (TensorRT-LLM)"},
  };
  return all;
}

EngineShape layout_shape(Case& test, KvFormat format) {
  EngineShape shape = small_shape(test, 5);
  const std::size_t chunk_size = test.chunk_size();
  if (chunk_size % 16 == 0) {
    shape.block_size = chunk_size / 16;
    shape.num_blocks = 16 * 5;
  }
  shape.format = format;
  shape.num_heads = 3;
  shape.head_size = 4;
  return shape;
}

void expect_round_trip(Case& test, EnginePlayer& player, std::size_t num_chunks,
                       std::uint64_t skip_tokens) {
  BlockIds all(player.geometry().num_blocks());
  std::iota(all.begin(), all.end(), 0);
  std::shuffle(all.begin(), all.end(), test.random());
  const auto count = static_cast<std::ptrdiff_t>(num_chunks * player.blocks_per_chunk());
  const BlockIds source(all.begin(), all.begin() + count);
  const BlockIds target(all.begin() + count, all.begin() + 2 * count);

  player.fill_all(kUntouched);
  const Contents contents = player.fill(source, test.random()());
  const MemoryImage before = player.image();
  const Tokens tokens = player.fresh_chunks(num_chunks);

  player.store_ok(player.key(tokens), source);
  player.expect_image(before, "STORE changes nothing");
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(num_chunks), "chunks found by LOOKUP");
  player.retrieve_ok(key, target, Int(skip_tokens));
  const std::size_t num_skipped =
      std::min<std::uint64_t>(skip_tokens / player.geometry().tokens_per_block(), target.size());
  player.expect_image(player.with(before, target, contents, num_skipped),
                      "RETRIEVE writes its blocks alone");
}

void add_round_trip(CaseList& cases, const LayoutCase& layout_case) {
  cases.add({"Layout." + layout_case.id,
             {layout_case.requirement, "retrieve.exact", "retrieve.untouched"},
             layout_case.claim,
             {Capability::kDevice},
             [shape = layout_case.shape](Case& test) {
               EnginePlayer player = registered_player(test, shape(test));
               expect_round_trip(test, player);
             }});
}

}  // namespace kvc::conformance
