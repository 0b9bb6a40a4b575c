// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Layout: what one layout stored, another retrieves. A round trip through one layout would not
// notice that a server keeps blocks as they lay in memory, nor a wrong order that is undone on the
// way back; here a token's bytes must arrive in the place that the other layout gives them.
#include <algorithm>
#include <numeric>

#include "conformance/cases/layout_support.h"

namespace kvc::conformance {
namespace {

constexpr std::size_t kChunks = 2;
constexpr std::uint8_t kUntouched = 0x5a;

// The same chunks as blocks of another size. A block's content is [layer and kv][slot][the rest],
// so each segment of a chunk is the concatenation of its blocks' segments.
Contents recut(const Contents& blocks, std::size_t num_segments, std::size_t num_blocks) {
  std::size_t chunk_bytes = 0;
  const std::size_t blocks_per_chunk = blocks.size() / kChunks;
  for (std::size_t i = 0; i < blocks_per_chunk; ++i) chunk_bytes += blocks[i].size();
  const std::size_t segment_bytes = chunk_bytes / num_segments;

  Contents out;
  for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
    Bytes in_order;
    for (std::size_t segment = 0; segment < num_segments; ++segment)
      for (std::size_t i = 0; i < blocks_per_chunk; ++i) {
        const Bytes& block = blocks[chunk * blocks_per_chunk + i];
        const std::size_t size = block.size() / num_segments;
        const auto from = block.begin() + static_cast<std::ptrdiff_t>(segment * size);
        in_order.insert(in_order.end(), from, from + static_cast<std::ptrdiff_t>(size));
      }
    const std::size_t num_cut = num_blocks / kChunks;
    const std::size_t size = segment_bytes / num_cut;
    for (std::size_t i = 0; i < num_cut; ++i) {
      Bytes block;
      for (std::size_t segment = 0; segment < num_segments; ++segment) {
        const auto from =
            in_order.begin() + static_cast<std::ptrdiff_t>(segment * segment_bytes + i * size);
        block.insert(block.end(), from, from + static_cast<std::ptrdiff_t>(size));
      }
      out.push_back(std::move(block));
    }
  }
  return out;
}

// As many of the player's blocks as kChunks take, in any order.
BlockIds scattered_blocks(Case& test, const EnginePlayer& player) {
  BlockIds all(player.geometry().num_blocks());
  std::iota(all.begin(), all.end(), 0);
  std::shuffle(all.begin(), all.end(), test.random());
  all.resize(kChunks * player.blocks_per_chunk());
  return all;
}

void expect_move(Case& test, const EngineShape& from, const EngineShape& to) {
  EnginePlayer writer(test, from, test.unique("model"));
  writer.register_kv_cache();
  EnginePlayer reader(test, to, writer.model_name());
  reader.register_kv_cache();

  const BlockIds source = scattered_blocks(test, writer);
  const BlockIds target = scattered_blocks(test, reader);
  const Contents written = writer.fill(source, test.random()());
  reader.fill_all(kUntouched);
  const MemoryImage before = reader.image();

  const Tokens tokens = writer.fresh_chunks(kChunks);
  writer.store_ok(writer.key(tokens), source);
  const Key key = reader.key(tokens);
  test.expect_equal(reader.lookup(key), Int(kChunks), "chunks found by LOOKUP");
  reader.retrieve_ok(key, target);
  const std::size_t kv_size = from.format == KvFormat::kNlXNbBsHs ? 1 : 2;
  const Contents expected = recut(written, kv_size * from.num_layers, target.size());
  reader.expect_image(reader.with(before, target, expected),
                      "the tokens' bytes in the other layout");
}

using MakeShape = std::function<EngineShape(Case&)>;

void add_move(CaseList& cases, const std::string& id, const std::string& claim, MakeShape from,
              MakeShape to) {
  cases.add({"Layout." + id,
             {"layout.object-form"},
             claim,
             {Capability::kDevice},
             [from = std::move(from), to = std::move(to)](Case& test) {
               expect_move(test, from(test), to(test));
             }});
}

// Blocks of twice the slots, where a chunk has several blocks.
EngineShape with_larger_blocks(Case& test, EngineShape shape) {
  if (test.chunk_size() % (shape.block_size * 2) == 0) {
    shape.block_size *= 2;
    shape.num_blocks /= 2;
  }
  return shape;
}

// The case in which sizes do not tell slots from heads.
EngineShape with_heads_as_slots(EngineShape shape) {
  shape.num_heads = shape.block_size;
  shape.head_size = 2;
  return shape;
}

EngineShape mla(Case& test, std::size_t padding) {
  EngineShape shape = layout_shape(test, KvFormat::kNlXNbBsHs);
  shape.dim0_padding = padding;
  return shape;
}

}  // namespace

void add_layout_pair_cases(CaseList& cases) {
  for (const LayoutName& from : layout_names())
    for (const LayoutName& to : layout_names()) {
      if (from.mla() || to.mla() || from.format == to.format) continue;
      add_move(
          cases, from.id + "MovesTo" + to.id,
          "What lay " + from.words + " is retrieved as " + to.words +
              ", in blocks of another size.",
          [from](Case& test) { return layout_shape(test, from.format); },
          [to](Case& test) { return with_larger_blocks(test, layout_shape(test, to.format)); });
      add_move(
          cases, from.id + "MovesTo" + to.id + "WithAsManyHeadsAsSlots",
          "What lay " + from.words + " is retrieved as " + to.words +
              ", where the number of heads is the block size.",
          [from](Case& test) { return with_heads_as_slots(layout_shape(test, from.format)); },
          [to](Case& test) { return with_heads_as_slots(layout_shape(test, to.format)); });
    }

  add_move(
      cases, "MlaMovesToPaddedMla", "MLA blocks without padding are retrieved into padded ones.",
      [](Case& test) { return mla(test, 0); }, [](Case& test) { return mla(test, 24); });
  add_move(
      cases, "PaddedMlaMovesToMla", "Padded MLA blocks are retrieved into ones without padding.",
      [](Case& test) { return mla(test, 24); }, [](Case& test) { return mla(test, 0); });
  add_move(
      cases, "MlaMovesToLargerBlocks", "MLA blocks are retrieved into padded ones of another size.",
      [](Case& test) { return mla(test, 0); },
      [](Case& test) { return with_larger_blocks(test, mla(test, 7)); });
  add_move(
      cases, "ObjectsMoveBetweenLayouts",
      "Two instances of a model whose layouts differ only in the order and the size of blocks read "
      "each other's chunks, token by token.",
      [](Case& test) { return layout_shape(test, KvFormat::kNlXTwoNbBsNhHs); },
      [](Case& test) {
        EngineShape shape = layout_shape(test, KvFormat::kNlXNbTwoNhBsHs);
        shape.block_size = test.chunk_size();
        shape.num_blocks = 4;
        return shape;
      });
}

}  // namespace kvc::conformance
