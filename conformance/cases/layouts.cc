// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Layout: every way in which an engine may lay out its KV cache goes through the server and back,
// exact to the byte, and nothing else is touched.
#include <algorithm>
#include <numeric>

#include "conformance/cases/data_cases.h"
#include "conformance/harness/engine_player.h"

namespace kvc::conformance {
namespace {

constexpr std::uint8_t kUntouched = 0xa5;

// Two chunks from scattered blocks into other scattered blocks.
void expect_exact(Case& test, EnginePlayer& player) {
  BlockIds all(player.geometry().num_blocks());
  std::iota(all.begin(), all.end(), 0);
  std::shuffle(all.begin(), all.end(), test.random());
  const auto count = static_cast<std::ptrdiff_t>(2 * player.blocks_per_chunk());
  const BlockIds source(all.begin(), all.begin() + count);
  const BlockIds target(all.begin() + count, all.begin() + 2 * count);

  player.fill_all(kUntouched);
  const Contents contents = player.fill(source, test.random()());
  const MemoryImage before = player.image();
  const Tokens tokens = player.fresh_chunks(2);

  player.store_ok(player.key(tokens), source);
  player.expect_image(before, "STORE changes nothing");
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(2), "chunks found by LOOKUP");
  player.retrieve_ok(key, target);
  player.expect_image(player.with(before, target, contents), "RETRIEVE writes its blocks alone");
}

// Blocks of a sixteenth of a chunk where that can be, so that a chunk has many.
EngineShape shape_of(Case& test, KvFormat format) {
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

struct Variant {
  std::string id;
  std::string claim;
  std::string requirement;
  std::function<EngineShape(Case&)> shape;
};

void add_variant(CaseList& cases, const Variant& variant) {
  cases.add({"Layout." + variant.id,
             {variant.requirement, "retrieve.exact"},
             variant.claim,
             {Capability::kHostDevice},
             [shape = variant.shape](Case& test) {
               EnginePlayer player = registered_player(test, shape(test));
               expect_exact(test, player);
             }});
}

struct Format {
  KvFormat format;
  std::string id;
  std::string words;
};

const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      {KvFormat::kNlXTwoNbBsNhHs, "TwoNbBsNhHs", "per layer [2, NB, BS, NH, HS] (NHD)"},
      {KvFormat::kNlXTwoNbNhBsHs, "TwoNbNhBsHs", "per layer [2, NB, NH, BS, HS] (HND)"},
      {KvFormat::kNlXNbTwoBsNhHs, "NbTwoBsNhHs", "per layer [NB, 2, BS, NH, HS] (NHD)"},
      {KvFormat::kNlXNbTwoNhBsHs, "NbTwoNhBsHs", "per layer [NB, 2, NH, BS, HS] (HND)"},
      {KvFormat::kNlXNbBsHs, "NbBsHs", "per layer [NB, BS, HS] (MLA)"},
      {KvFormat::kNbNlTwoNhBsHs, "NbNlTwoNhBsHs", "one [NB, NL, 2, NH*BS*HS] (TensorRT-LLM)"},
  };
  return all;
}

void add_formats(CaseList& cases) {
  for (const Format& format : formats()) {
    add_variant(
        cases,
        {format.id + "IsExact", "The layout " + format.words + " is stored and retrieved exactly.",
         "layout.table", [format](Case& test) { return shape_of(test, format.format); }});
    if (format.format != KvFormat::kNlXNbBsHs)
      add_variant(cases, {format.id + "IsExactWithAsManyHeadsAsSlots",
                          "The layout " + format.words +
                              " is exact where the number of heads is the block size.",
                          "layout.hnd-nhd", [format](Case& test) {
                            EngineShape shape = shape_of(test, format.format);
                            shape.num_heads = shape.block_size;
                            shape.head_size = 2;
                            return shape;
                          }});
    add_variant(cases,
                {format.id + "IsExactInRawWrapper",
                 "The layout " + format.words + " is exact when it comes in a RawCudaIPCWrapper.",
                 "layout.raw-wrapper", [format](Case& test) {
                   EngineShape shape = shape_of(test, format.format);
                   shape.raw_wrapper = true;
                   return shape;
                 }});
    add_variant(cases, {format.id + "IsExactAtAStorageOffset",
                        "The layout " + format.words +
                            " is exact where the tensor begins inside its storage.",
                        "layout.storage-offset", [format](Case& test) {
                          EngineShape shape = shape_of(test, format.format);
                          shape.storage_offset = 24;
                          return shape;
                        }});
  }
  for (const auto& [format, id] : {std::pair(KvFormat::kNlXTwoNbNhBsHs, "TwoNbNhBsHs"),
                                   std::pair(KvFormat::kNlXNbTwoNhBsHs, "NbTwoNhBsHs")})
    add_variant(cases, {std::string(id) + "IsExactAsAPermutedView",
                        "HND memory that is shown as an NHD view by its strides is exact.",
                        "layout.permuted", [format = format](Case& test) {
                          EngineShape shape = shape_of(test, format);
                          shape.permuted_view = true;
                          return shape;
                        }});
}

void add_dtypes(CaseList& cases) {
  for (const auto& [dtype, id] :
       {std::pair("uint8", "Uint8"), std::pair("float8_e4m3fn", "Float8"),
        std::pair("float16", "Float16"), std::pair("bfloat16", "Bfloat16"),
        std::pair("float32", "Float32")})
    add_variant(cases, {std::string(id) + "IsExact",
                        std::string("Elements of ") + dtype + " go through bit by bit.",
                        "layout.dtypes", [dtype = std::string(dtype)](Case& test) {
                          EngineShape shape = shape_of(test, KvFormat::kNlXTwoNbBsNhHs);
                          shape.dtype = dtype;
                          return shape;
                        }});
}

void add_sizes(CaseList& cases) {
  add_variant(cases,
              {"OneLayerIsExact", "A model of one layer is exact.", "layout.table", [](Case& test) {
                 EngineShape shape = shape_of(test, KvFormat::kNlXTwoNbBsNhHs);
                 shape.num_layers = 1;
                 return shape;
               }});
  add_variant(cases, {"ManyLayersAreExact", "A model of 61 layers is exact.", "layout.table",
                      [](Case& test) {
                        EngineShape shape = small_shape(test, 5);
                        shape.num_layers = 61;
                        shape.num_heads = 1;
                        shape.head_size = 2;
                        return shape;
                      }});
  add_variant(cases, {"OneBlockAChunkIsExact", "A block as large as a chunk is exact.",
                      "layout.table", [](Case& test) {
                        EngineShape shape = shape_of(test, KvFormat::kNlXNbTwoBsNhHs);
                        shape.block_size = test.chunk_size();
                        shape.num_blocks = 5;
                        return shape;
                      }});
  add_variant(cases, {"OneSlotABlockIsExact", "Blocks of one slot are exact.", "layout.table",
                      [](Case& test) {
                        EngineShape shape = shape_of(test, KvFormat::kNlXTwoNbBsNhHs);
                        shape.num_layers = 1;
                        shape.block_size = 1;
                        shape.num_blocks = test.chunk_size() * 4 + 3;
                        return shape;
                      }});
  add_variant(cases, {"OneAllocationForAllLayersIsExact",
                      "Tensors that are parts of one allocation, each at its own storage offset "
                      "in bytes, are exact.",
                      "layout.storage-offset", [](Case& test) {
                        EngineShape shape = shape_of(test, KvFormat::kNlXTwoNbBsNhHs);
                        shape.num_layers = 5;
                        shape.one_storage = true;
                        return shape;
                      }});
  add_variant(cases, {"PaddedMlaIsExact",
                      "MLA tensors with padding behind each block are exact, and the padding is "
                      "not touched.",
                      "layout.padded-mla", [](Case& test) {
                        EngineShape shape = shape_of(test, KvFormat::kNlXNbBsHs);
                        shape.dim0_padding = 40;
                        return shape;
                      }});
}

EngineShape mixed(Case& test, KvFormat format) {
  EngineShape shape = shape_of(test, format);
  const std::size_t block = shape.block_size;
  shape.mixed_layers = {{"bfloat16", block, 2, 4}, {"bfloat16", block, 3, 8},
                        {"bfloat16", block, 2, 4}, {"uint8", block, 2, 4},
                        {"bfloat16", block, 3, 8}, {"float32", block, 1, 6}};
  return shape;
}

EngineShape compressed(Case& test) {
  EngineShape shape = small_shape(test, 5);
  const std::size_t block = shape.block_size;
  const std::size_t quarter = block % 4 == 0 ? block / 4 : block;
  shape.format = KvFormat::kNlXNbBsHs;
  shape.logical_block_size = block;
  shape.mixed_layers = {{"bfloat16", block, 1, 6},
                        {"uint8", quarter, 1, 10},
                        {"bfloat16", block, 1, 6},
                        {"bfloat16", 1, 1, 6}};
  return shape;
}

void add_groups(CaseList& cases) {
  for (const Format& format : formats())
    if (format.format != KvFormat::kNbNlTwoNhBsHs)
      add_variant(cases,
                  {format.id + "IsExactWithMixedLayers",
                   "Layers that differ in heads, head size and dtype, in the layout " +
                       format.words + ", are exact.",
                   "layout.groups", [format](Case& test) { return mixed(test, format.format); }});
  add_variant(cases, {"CompressedLayersAreExact",
                      "Layers whose blocks hold fewer slots than the engine's block has tokens "
                      "(hint inference_engine_logical_block_size) are exact.",
                      "layout.compressed", compressed});
  add_variant(cases, {"CompressedPaddedLayersAreExact",
                      "Compressed layers with padding behind each block are exact.",
                      "layout.compressed", [](Case& test) {
                        EngineShape shape = compressed(test);
                        shape.mixed_layers[1].dim0_padding = 17;
                        shape.mixed_layers[3].dim0_padding = 1000;
                        return shape;
                      }});
  add_variant(cases,
              {"CompressedKeysAndValuesAreExact", "Compressed layers of keys and values are exact.",
               "layout.compressed", [](Case& test) {
                 EngineShape shape = small_shape(test, 5);
                 const std::size_t block = shape.block_size;
                 shape.logical_block_size = block;
                 shape.mixed_layers = {{"bfloat16", block, 2, 4},
                                       {"bfloat16", block % 2 == 0 ? block / 2 : block, 2, 4}};
                 return shape;
               }});
}

// The tokens of a chunk in order: [layer and kv][slot of all blocks].
Bytes in_token_order(const Contents& contents, std::size_t num_segments) {
  Bytes chunk;
  for (std::size_t segment = 0; segment < num_segments; ++segment)
    for (const Bytes& block : contents) {
      const std::size_t size = block.size() / num_segments;
      const auto from = block.begin() + static_cast<std::ptrdiff_t>(segment * size);
      chunk.insert(chunk.end(), from, from + static_cast<std::ptrdiff_t>(size));
    }
  return chunk;
}

}  // namespace

void add_layout_cases(CaseList& cases) {
  add_formats(cases);
  add_dtypes(cases);
  add_sizes(cases);
  add_groups(cases);

  cases.add({"Layout.WithoutHintsIsNhd",
             {"layout.nhd-default", "retrieve.exact"},
             "vLLM's tensors without any hint are taken as NHD.",
             {Capability::kHostDevice},
             [](Case& test) {
               EnginePlayer nhd(test, shape_of(test, KvFormat::kNlXTwoNbBsNhHs),
                                test.unique("model"));
               nhd.client().result<None>(nhd.client().reply_to(
                   nhd.send_register(nhd.kv_cache(), nhd.engine_type(), LayoutHints{})));
               expect_exact(test, nhd);
             }});

  cases.add({"Layout.ObjectsMoveBetweenLayouts",
             {"layout.object-form"},
             "Two instances of a model whose layouts differ only in the order and the size of "
             "blocks read each other's chunks, token by token.",
             {Capability::kHostDevice},
             [](Case& test) {
               EngineShape shape = shape_of(test, KvFormat::kNlXTwoNbBsNhHs);
               EnginePlayer writer(test, shape, test.unique("model"));
               writer.register_kv_cache();
               shape.format = KvFormat::kNlXNbTwoNhBsHs;
               shape.block_size = test.chunk_size();
               shape.num_blocks = 4;
               EnginePlayer reader(test, shape, writer.model_name());
               reader.register_kv_cache();

               const Tokens tokens = writer.fresh_chunks(1);
               const Contents written = writer.fill(writer.blocks(1), test.random()());
               writer.store_ok(writer.key(tokens), writer.blocks(1));
               const Key key = reader.key(tokens);
               test.expect_equal(reader.lookup(key), Int(1), "chunks found by LOOKUP");
               reader.retrieve_ok(key, reader.blocks(2));
               const std::size_t num_segments = 2 * shape.num_layers;
               test.expect(in_token_order(reader.contents(reader.blocks(2)), num_segments) ==
                               in_token_order(written, num_segments),
                           "the tokens' bytes in the other layout", "other bytes");
             }});

  cases.add({"Layout.HandleFormsAreExact",
             {"layout.handle-forms"},
             "torch's memory handle opens behind version bytes 1, 2 and 3, and bare.",
             {Capability::kHostDevice},
             [](Case& test) {
               for (const Bytes& lead : {Bytes{1, 'c'}, Bytes{2, 'c'}, Bytes{3, 'c'}, Bytes{}}) {
                 test.step("lead bytes \"" + to_hex(lead) + "\"");
                 EnginePlayer player(test, shape_of(test, KvFormat::kNlXTwoNbBsNhHs),
                                     test.unique("model"));
                 KVCache cache = player.kv_cache();
                 for (IpcTensor& tensor : cache) {
                   Bytes& handle = std::get<TorchIpcHandle>(tensor.handle).handle;
                   Bytes other = lead;
                   other.insert(other.end(), handle.end() - 64, handle.end());
                   handle = other;
                 }
                 player.client().result<None>(player.client().reply_to(
                     player.send_register(cache, player.engine_type(), player.hints())));
                 expect_exact(test, player);
               }
             }});
}

}  // namespace kvc::conformance
