// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Layout: every way in which an engine may lay out its KV cache goes through the server and back,
// exact to the byte, and nothing else is touched.
#include <algorithm>

#include "conformance/cases/layout_support.h"

namespace kvc::conformance {
namespace {

void add_formats(CaseList& cases) {
  for (const LayoutName& format : layout_names()) {
    add_round_trip(
        cases,
        {format.id + "IsExact", "The layout " + format.words + " is stored and retrieved exactly.",
         "layout.table", [format](Case& test) { return layout_shape(test, format.format); }});
    if (!format.mla())
      add_round_trip(cases, {format.id + "IsExactWithAsManyHeadsAsSlots",
                             "The layout " + format.words +
                                 " is exact where the number of heads is the block size.",
                             "layout.hnd-nhd", [format](Case& test) {
                               EngineShape shape = layout_shape(test, format.format);
                               shape.num_heads = shape.block_size;
                               shape.head_size = 2;
                               return shape;
                             }});
    add_round_trip(
        cases, {format.id + "IsExactInRawWrapper",
                "The layout " + format.words + " is exact when it comes in a RawCudaIPCWrapper.",
                "layout.raw-wrapper", [format](Case& test) {
                  EngineShape shape = layout_shape(test, format.format);
                  shape.raw_wrapper = true;
                  return shape;
                }});
    add_round_trip(cases, {format.id + "IsExactAtAStorageOffset",
                           "The layout " + format.words +
                               " is exact where the tensor begins inside its storage.",
                           "layout.storage-offset", [format](Case& test) {
                             EngineShape shape = layout_shape(test, format.format);
                             shape.storage_offset = 24;
                             return shape;
                           }});
  }
  for (const auto& [format, id] : {std::pair(KvFormat::kNlXTwoNbNhBsHs, "TwoNbNhBsHs"),
                                   std::pair(KvFormat::kNlXNbTwoNhBsHs, "NbTwoNhBsHs")})
    add_round_trip(cases, {std::string(id) + "IsExactAsAPermutedView",
                           "HND memory that is shown as an NHD view by its strides is exact.",
                           "layout.permuted", [format = format](Case& test) {
                             EngineShape shape = layout_shape(test, format);
                             shape.permuted_view = true;
                             return shape;
                           }});
}

void add_dtypes(CaseList& cases) {
  for (const auto& [dtype, id] :
       {std::pair("uint8", "Uint8"), std::pair("float8_e4m3fn", "Float8"),
        std::pair("float16", "Float16"), std::pair("bfloat16", "Bfloat16"),
        std::pair("float32", "Float32"), std::pair("float64", "Float64"),
        std::pair("int64", "Int64")})
    add_round_trip(cases, {std::string(id) + "IsExact",
                           std::string("Elements of ") + dtype + " go through bit by bit.",
                           "layout.dtypes", [dtype = std::string(dtype)](Case& test) {
                             EngineShape shape = layout_shape(test, KvFormat::kNlXTwoNbBsNhHs);
                             shape.dtype = dtype;
                             return shape;
                           }});
}

void add_sizes(CaseList& cases) {
  add_round_trip(
      cases, {"OneLayerIsExact", "A model of one layer is exact.", "layout.table", [](Case& test) {
                EngineShape shape = layout_shape(test, KvFormat::kNlXTwoNbBsNhHs);
                shape.num_layers = 1;
                return shape;
              }});
  add_round_trip(cases, {"ManyLayersAreExact", "A model of 61 layers is exact.", "layout.table",
                         [](Case& test) {
                           EngineShape shape = small_shape(test, 5);
                           shape.num_layers = 61;
                           shape.num_heads = 1;
                           shape.head_size = 2;
                           return shape;
                         }});
  add_round_trip(cases, {"OneBlockAChunkIsExact", "A block as large as a chunk is exact.",
                         "layout.table", [](Case& test) {
                           EngineShape shape = layout_shape(test, KvFormat::kNlXNbTwoBsNhHs);
                           shape.block_size = test.chunk_size();
                           shape.num_blocks = 5;
                           return shape;
                         }});
  add_round_trip(cases, {"OneSlotABlockIsExact", "Blocks of one slot are exact.", "layout.table",
                         [](Case& test) {
                           EngineShape shape = layout_shape(test, KvFormat::kNlXTwoNbBsNhHs);
                           shape.num_layers = 1;
                           shape.block_size = 1;
                           shape.num_blocks = test.chunk_size() * 4 + 3;
                           return shape;
                         }});
  add_round_trip(cases, {"OneAllocationForAllLayersIsExact",
                         "Tensors that are parts of one allocation, each at its own storage offset "
                         "in bytes, are exact.",
                         "layout.storage-offset", [](Case& test) {
                           EngineShape shape = layout_shape(test, KvFormat::kNlXTwoNbBsNhHs);
                           shape.num_layers = 5;
                           shape.one_storage = true;
                           return shape;
                         }});
  add_round_trip(cases, {"PaddedMlaIsExact",
                         "MLA tensors with padding behind each block are exact, and the padding is "
                         "not touched.",
                         "layout.padded-mla", [](Case& test) {
                           EngineShape shape = layout_shape(test, KvFormat::kNlXNbBsHs);
                           shape.dim0_padding = 40;
                           return shape;
                         }});
}

EngineShape mixed(Case& test, KvFormat format) {
  EngineShape shape = layout_shape(test, format);
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
  for (const LayoutName& format : layout_names())
    if (!format.pool())
      add_round_trip(
          cases, {format.id + "IsExactWithMixedLayers",
                  "Layers that differ in heads, head size and dtype, in the layout " +
                      format.words + ", are exact.",
                  "layout.groups", [format](Case& test) { return mixed(test, format.format); }});
  add_round_trip(cases, {"CompressedLayersAreExact",
                         "Layers whose blocks hold fewer slots than the engine's block has tokens "
                         "(hint inference_engine_logical_block_size) are exact.",
                         "layout.compressed", compressed});
  add_round_trip(cases, {"CompressedPaddedLayersAreExact",
                         "Compressed layers with padding behind each block are exact.",
                         "layout.compressed", [](Case& test) {
                           EngineShape shape = compressed(test);
                           shape.mixed_layers[1].dim0_padding = 17;
                           shape.mixed_layers[3].dim0_padding = 1000;
                           return shape;
                         }});
  add_round_trip(
      cases, {"CompressedKeysAndValuesAreExact", "Compressed layers of keys and values are exact.",
              "layout.compressed", [](Case& test) {
                EngineShape shape = small_shape(test, 5);
                const std::size_t block = shape.block_size;
                shape.logical_block_size = block;
                shape.mixed_layers = {{"bfloat16", block, 2, 4},
                                      {"bfloat16", block % 2 == 0 ? block / 2 : block, 2, 4}};
                return shape;
              }});
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
             {Capability::kDevice},
             [](Case& test) {
               EnginePlayer nhd(test, layout_shape(test, KvFormat::kNlXTwoNbBsNhHs),
                                test.unique("model"));
               nhd.client().result<None>(nhd.client().reply_to(
                   nhd.send_register(nhd.kv_cache(), nhd.engine_type(), LayoutHints{})));
               expect_round_trip(test, nhd);
             }});

  cases.add({"Layout.HandleFormsAreExact",
             {"layout.handle-forms"},
             "torch's memory handle opens behind version bytes 1, 2 and 3, and bare.",
             {Capability::kDevice},
             [](Case& test) {
               for (const Bytes& lead : {Bytes{1, 'c'}, Bytes{2, 'c'}, Bytes{3, 'c'}, Bytes{}}) {
                 test.step("lead bytes \"" + to_hex(lead) + "\"");
                 EnginePlayer player(test, layout_shape(test, KvFormat::kNlXTwoNbBsNhHs),
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
                 expect_round_trip(test, player);
               }
             }});
}

}  // namespace kvc::conformance
