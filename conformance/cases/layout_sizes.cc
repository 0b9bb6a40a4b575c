// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Layout: sizes. Every layout with elements of each width, with rows that no vector fits and with
// the rows of real models, from 1 to 130 chunks, with layers compressed and padded, and with every
// kind of skip.
#include <array>
#include <utility>

#include "conformance/cases/layout_support.h"

namespace kvc::conformance {
namespace {

void add_widths(CaseList& cases) {
  for (const LayoutName& layout : layout_names())
    for (const auto& [dtype, words] :
         {std::pair("uint8", "One"), std::pair("float32", "Four"), std::pair("float64", "Eight")})
      add_round_trip(
          cases,
          {layout.id + "IsExactIn" + words + (std::string(words) == "One" ? "Byte" : "Bytes"),
           "The layout " + layout.words + " is exact with elements of " + dtype + ".",
           "layout.dtypes", [layout, dtype = std::string(dtype)](Case& test) {
             EngineShape shape = layout_shape(test, layout.format);
             shape.dtype = dtype;
             return shape;
           }});
}

void add_rows(CaseList& cases) {
  for (const LayoutName& layout : layout_names()) {
    add_round_trip(cases, {layout.id + "IsExactWithOddRows",
                           "The layout " + layout.words +
                               " is exact with heads of 5 bytes, which nothing is aligned to.",
                           "layout.table", [layout](Case& test) {
                             EngineShape shape = layout_shape(test, layout.format);
                             shape.dtype = "uint8";
                             shape.head_size = 5;
                             return shape;
                           }});
    add_round_trip(cases, {layout.id + "IsExactWithRowsOfRealModels",
                           "The layout " + layout.words + " is exact with heads of 128 bfloat16.",
                           "layout.table", [layout](Case& test) {
                             EngineShape shape = small_shape(test, 4);
                             shape.format = layout.format;
                             shape.num_layers = 1;
                             shape.num_heads = 2;
                             shape.head_size = 128;
                             return shape;
                           }});
    if (layout.mla()) continue;
    add_round_trip(cases, {layout.id + "IsExactWithOneHead",
                           "The layout " + layout.words + " is exact with a single head.",
                           "layout.table", [layout](Case& test) {
                             EngineShape shape = layout_shape(test, layout.format);
                             shape.num_heads = 1;
                             return shape;
                           }});
  }
}

// A few bytes a token, one or two blocks a chunk: what many chunks cost is their number.
EngineShape many_chunks_shape(Case& test, KvFormat format, std::size_t num_chunks) {
  EngineShape shape;
  shape.format = format;
  shape.dtype = "uint8";
  shape.num_layers = 1;
  shape.num_heads = 2;
  shape.head_size = 1;
  shape.block_size = test.chunk_size() % 2 == 0 ? test.chunk_size() / 2 : test.chunk_size();
  // Not two blocks, which would make the layouts ambiguous.
  shape.num_blocks = 2 * num_chunks * (test.chunk_size() / shape.block_size) + 3;
  return shape;
}

void add_chunk_counts(CaseList& cases) {
  // 0.4.5 moves four chunks at a time; a hash chain, a lock and a block list are as long as the
  // request, so the numbers around powers of two and one larger than any of them.
  constexpr std::size_t kMany = 130;
  const auto add = [&](const LayoutName& layout, std::size_t count, const std::string& id) {
    cases.add({"Layout." + id,
               {"layout.table", "retrieve.exact"},
               "A request of " + std::to_string(count) + (count == 1 ? " chunk" : " chunks") +
                   " in the layout " + layout.words + " is exact.",
               {Capability::kDevice},
               [layout, count](Case& test) {
                 EnginePlayer player =
                     registered_player(test, many_chunks_shape(test, layout.format, count));
                 expect_round_trip(test, player, count);
               }});
  };
  for (const std::size_t count : {1U, 3U, 4U, 5U, 7U, 8U, 9U, 16U, 17U, 33U, 64U, 65U, 128U})
    add(layout_names().front(), count, "ChunksAreExact" + std::to_string(count));
  for (const LayoutName& layout : layout_names())
    add(layout, kMany, layout.id + "IsExactWithManyChunks");
}

// A chunk is stored once, and retrieved again and again with another skip.
void expect_skips(Case& test, const EngineShape& shape) {
  constexpr std::size_t kChunks = 2;
  constexpr std::uint8_t kUntouched = 0xa5;
  EnginePlayer player = registered_player(test, shape);
  const BlockIds source = player.blocks(0, kChunks);
  const BlockIds target = player.blocks(kChunks, kChunks);
  const Contents contents = player.fill(source, test.random()());
  const Tokens tokens = player.fresh_chunks(kChunks);
  player.store_ok(player.key(tokens), source);

  const std::size_t block = player.geometry().tokens_per_block();
  const std::size_t chunk = test.chunk_size();
  const std::array<std::size_t, 7> skips = {block - 1, block,         block + 1,          chunk - 1,
                                            chunk,     chunk + block, kChunks * chunk - 1};
  for (const std::size_t skip : skips) {
    test.step("skip_first_n_tokens " + std::to_string(skip) + ", blocks of " +
              std::to_string(block));
    player.fill_all(kUntouched);
    const MemoryImage before = player.image();
    const Key key = player.key(tokens);
    test.expect_equal(player.lookup(key), Int(kChunks), "chunks found by LOOKUP");
    player.retrieve_ok(key, target, Int(skip));
    player.expect_image(player.with(before, target, contents, skip / block),
                        "RETRIEVE writes the blocks behind the skipped ones alone");
  }
}

void add_skip(CaseList& cases, const std::string& id, const std::string& words,
              std::function<EngineShape(Case&)> shape) {
  cases.add({"Layout." + id,
             {"retrieve.skip", "retrieve.exact"},
             "Skipped blocks stay as they are, and the others are exact, " + words + ".",
             {Capability::kDevice},
             [shape = std::move(shape)](Case& test) { expect_skips(test, shape(test)); }});
}

// Layers of which a block holds all, a half and a quarter of the engine's tokens.
EngineShape compressed_shape(Case& test, KvFormat format) {
  EngineShape shape = small_shape(test, 5);
  const std::size_t block = shape.block_size;
  const auto part = [&](std::size_t of) { return block % of == 0 ? block / of : block; };
  shape.format = format;
  shape.logical_block_size = block;
  shape.mixed_layers = {{"bfloat16", block, 2, 4},
                        {"bfloat16", part(2), 2, 4},
                        {"uint8", part(4), 3, 5},
                        {"bfloat16", block, 2, 4}};
  return shape;
}

EngineShape mixed_shape(Case& test, KvFormat format) {
  EngineShape shape = layout_shape(test, format);
  const std::size_t block = shape.block_size;
  shape.mixed_layers = {
      {"float32", block, 1, 6}, {"bfloat16", block, 3, 8}, {"uint8", block, 2, 5}};
  return shape;
}

void add_skips(CaseList& cases) {
  for (const LayoutName& layout : layout_names())
    add_skip(cases, layout.id + "SkipsWholeBlocks", "in the layout " + layout.words,
             [layout](Case& test) { return layout_shape(test, layout.format); });
  add_skip(cases, "PaddedMlaSkipsWholeBlocks", "in padded MLA blocks", [](Case& test) {
    EngineShape shape = layout_shape(test, KvFormat::kNlXNbBsHs);
    shape.dim0_padding = 13;
    return shape;
  });
  add_skip(cases, "CompressedLayersSkipWholeBlocks", "in layers of fewer slots than tokens",
           [](Case& test) { return compressed_shape(test, KvFormat::kNlXTwoNbNhBsHs); });
  add_skip(cases, "MixedLayersSkipWholeBlocks", "in layers of different shapes and widths",
           [](Case& test) { return mixed_shape(test, KvFormat::kNlXNbTwoNhBsHs); });
  add_skip(cases, "OneBlockAChunkSkipsWholeBlocks", "where a block is a chunk", [](Case& test) {
    EngineShape shape = layout_shape(test, KvFormat::kNlXTwoNbBsNhHs);
    shape.block_size = test.chunk_size();
    shape.num_blocks = 5;
    return shape;
  });
}

void add_compressed(CaseList& cases) {
  for (const LayoutName& layout : layout_names()) {
    if (layout.pool()) continue;  // its hints name one block size
    if (!layout.mla())
      add_round_trip(
          cases, {layout.id + "IsExactWithCompressedLayers",
                  "Layers compressed by 1, 2 and 4, in the layout " + layout.words + ", are exact.",
                  "layout.compressed",
                  [layout](Case& test) { return compressed_shape(test, layout.format); }});
    add_round_trip(cases, {layout.id + "IsExactWithAllLayersCompressed",
                           "Layers that are all compressed by the same, in the layout " +
                               layout.words + ", are exact.",
                           "layout.compressed", [layout](Case& test) {
                             EngineShape shape = small_shape(test, 5);
                             shape.format = layout.format;
                             shape.logical_block_size = shape.block_size;
                             if (shape.block_size % 4 == 0) shape.block_size /= 4;
                             return shape;
                           }});
  }
}

void add_padding_and_pools(CaseList& cases) {
  for (const auto& [dtype, id] : {std::pair("uint8", "OneByte"), std::pair("float32", "FourBytes"),
                                  std::pair("float64", "EightBytes")})
    add_round_trip(cases, {std::string("PaddedMlaIsExactIn") + id,
                           std::string("Padded MLA blocks of ") + dtype + " are exact.",
                           "layout.padded-mla", [dtype = std::string(dtype)](Case& test) {
                             EngineShape shape = layout_shape(test, KvFormat::kNlXNbBsHs);
                             shape.dtype = dtype;
                             shape.dim0_padding = 1;
                             return shape;
                           }});
  add_round_trip(cases, {"LayersOfDifferentPaddingAreExact",
                         "MLA layers that are padded differently are exact.", "layout.padded-mla",
                         [](Case& test) {
                           EngineShape shape = layout_shape(test, KvFormat::kNlXNbBsHs);
                           const std::size_t block = shape.block_size;
                           shape.mixed_layers = {{"bfloat16", block, 1, 9, 0},
                                                 {"uint8", block, 1, 12, 5},
                                                 {"float32", block, 1, 6, 300}};
                           return shape;
                         }});
  for (const std::size_t num_layers : {std::size_t{1}, std::size_t{7}})
    add_round_trip(cases,
                   {"PoolOfLayersIsExact" + std::to_string(num_layers),
                    "TensorRT-LLM's pool of " + std::to_string(num_layers) + " layers is exact.",
                    "layout.table", [num_layers](Case& test) {
                      EngineShape shape = layout_shape(test, KvFormat::kNbNlTwoNhBsHs);
                      shape.num_layers = num_layers;
                      return shape;
                    }});
  add_round_trip(
      cases, {"PoolOfOneSlotABlockIsExact", "TensorRT-LLM's pool is exact with blocks of one slot.",
              "layout.table", [](Case& test) {
                EngineShape shape = layout_shape(test, KvFormat::kNbNlTwoNhBsHs);
                shape.block_size = 1;
                shape.num_blocks = test.chunk_size() * 4 + 3;
                return shape;
              }});
}

}  // namespace

void add_layout_size_cases(CaseList& cases) {
  add_widths(cases);
  add_rows(cases);
  add_chunk_counts(cases);
  add_compressed(cases);
  add_padding_and_pools(cases);
  add_skips(cases);
}

}  // namespace kvc::conformance
