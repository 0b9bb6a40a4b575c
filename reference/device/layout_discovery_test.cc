// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: the layouts of the real LMCache, and its refusals. Method: golden/0.4.5/layouts.json holds
// what it answered; where the reference answers otherwise, the file says so and why.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "device/test_support.h"
#include "kvc/device/layout.h"

namespace kvc {
namespace {

using nlohmann::json;
using test::contiguous_desc;

json golden_layouts() {
  std::ifstream file(KVC_SOURCE_DIR "/golden/0.4.5/layouts.json");
  return json::parse(file);
}

TensorDesc desc_of(const json& tensor) {
  TensorDesc desc;
  const std::string dtype = tensor.at("dtype");
  desc.dtype = canonical_dtype(dtype);
  desc.element_size = dtype_size_bytes(dtype);
  desc.shape = tensor.at("shape").get<std::vector<std::int64_t>>();
  desc.stride = tensor.at("stride").get<std::vector<std::int64_t>>();
  desc.storage_offset = tensor.at("storage_offset");
  desc.base_offset_bytes = static_cast<std::size_t>(desc.storage_offset) * desc.element_size;
  desc.available_bytes =
      tensor.at("storage_elements").get<std::size_t>() * desc.element_size - desc.base_offset_bytes;
  return desc;
}

std::optional<Int> hint_of(const json& hints, const char* name) {
  return hints.contains(name) ? std::optional(Int(hints.at(name).get<std::int64_t>()))
                              : std::nullopt;
}

LayoutHints hints_of(const json& hints) {
  LayoutHints read;
  if (hints.contains("kv_layout"))
    read.kv_layout = hints.at("kv_layout") == "HND" ? KvLayout::kHND : KvLayout::kNHD;
  read.num_kv_heads = hint_of(hints, "num_kv_heads");
  read.tokens_per_block = hint_of(hints, "tokens_per_block");
  read.head_dim = hint_of(hints, "head_dim");
  read.inference_engine_logical_block_size = hint_of(hints, "inference_engine_logical_block_size");
  return read;
}

EngineType engine_of(const std::string& name) {
  for (const EngineType engine :
       {EngineType::kVllm, EngineType::kSglang, EngineType::kTrtllm, EngineType::kMock})
    if (name == to_string(engine)) return engine;
  ADD_FAILURE() << "no engine " << name;
  return EngineType::kMock;
}

Result<Layout> discover(const json& golden) {
  std::vector<TensorDesc> tensors;
  for (const json& tensor : golden.at("tensors")) tensors.push_back(desc_of(tensor));
  return discover_layout(std::move(tensors), engine_of(golden.at("engine")),
                         hints_of(golden.at("hints")), golden.at("chunk_size"));
}

// A layout in the words of the golden file.
json described(const Layout& layout) {
  json groups = json::array();
  for (const LayerGroup& group : layout.groups)
    groups.push_back({{"layers", group.layers},
                      {"kv_size", group.kv_size},
                      {"num_heads", group.num_heads},
                      {"head_size", group.head_size},
                      {"block_size", group.block_size},
                      {"element_size", group.element_size},
                      {"dtype", group.dtype},
                      {"compress_ratio", group.compress_ratio},
                      {"slots_per_chunk", group.slots_per_chunk},
                      {"object_offset_bytes", group.object_offset_bytes},
                      {"object_bytes", group.object_bytes}});
  return {{"format", to_string(layout.format)}, {"num_layers", layout.num_layers},
          {"num_blocks", layout.num_blocks},    {"tokens_per_block", layout.tokens_per_block},
          {"chunk_bytes", layout.chunk_bytes},  {"groups", groups}};
}

TEST(Layout, IsWhatTheRealServerFinds) {
  const json cases = golden_layouts();
  ASSERT_GE(cases.size(), 70u);
  for (const json& golden : cases) {
    SCOPED_TRACE(golden.at("name").get<std::string>());
    const Result<Layout> layout = discover(golden);
    if (golden.at("real").contains("refused") || golden.contains("faulty")) {
      ASSERT_FALSE(layout.ok());
      EXPECT_TRUE(layout.error().path.starts_with("$")) << layout.error().text();
      EXPECT_FALSE(layout.error().message.empty());
      continue;
    }
    ASSERT_TRUE(layout.ok()) << layout.error().text();
    json expected = golden.at("real");
    if (golden.contains("right")) expected.update(golden.at("right"));
    EXPECT_EQ(described(*layout), expected);
  }
}

TEST(Layout, SaysWhichTensorIsRefused) {
  const TensorDesc good = contiguous_desc("bfloat16", {2, 10, 16, 4, 8});
  const TensorDesc other_rank = contiguous_desc("bfloat16", {10, 16, 72});
  const Result<Layout> layout =
      discover_layout({good, good, other_rank}, EngineType::kVllm, {}, 64);
  ASSERT_FALSE(layout.ok());
  EXPECT_EQ(layout.error().path, "$[2].shape");
}

TEST(Layout, HasABoundOnLayers) {
  LayoutHints hints;
  hints.num_kv_heads = hints.tokens_per_block = hints.head_dim = Int(1);
  EXPECT_TRUE(
      discover_layout({contiguous_desc("uint8", {1, 4096, 2, 1})}, EngineType::kTrtllm, hints, 16)
          .ok());
  EXPECT_FALSE(discover_layout({contiguous_desc("uint8", {1, std::int64_t{1} << 40, 2, 1})},
                               EngineType::kTrtllm, hints, 16)
                   .ok());
}

TEST(Layout, RefusesHintsThatWrap) {
  LayoutHints hints;
  hints.num_kv_heads = hints.tokens_per_block = Int(std::int64_t{1} << 32);
  hints.head_dim = Int(1);
  const Result<Layout> layout =
      discover_layout({contiguous_desc("uint8", {1, 1, 2, 16})}, EngineType::kTrtllm, hints, 16);
  ASSERT_FALSE(layout.ok());
  EXPECT_EQ(layout.error().path, "$[0].shape[3]");
}

TEST(Layout, RefusesChunksThatNoMemoryHolds) {
  const Result<Layout> layout =
      discover_layout({contiguous_desc("uint8", {1, 1, std::int64_t{1} << 40})}, EngineType::kVllm,
                      {}, std::size_t{1} << 30);
  ASSERT_FALSE(layout.ok());
  EXPECT_EQ(layout.error().path, "$[0].shape");
}

TEST(Layout, ComparesByWhatAnObjectHolds) {
  const auto layout_of = [](std::vector<TensorDesc> tensors, LayoutHints hints = {}) {
    Result<Layout> layout = discover_layout(std::move(tensors), EngineType::kVllm, hints, 64);
    EXPECT_TRUE(layout.ok());
    return std::move(layout).value();
  };
  LayoutHints hnd;
  hnd.kv_layout = KvLayout::kHND;
  const Layout nhd = layout_of({contiguous_desc("bfloat16", {2, 10, 16, 4, 8})});
  EXPECT_TRUE(
      nhd.same_object_shape(layout_of({contiguous_desc("bfloat16", {2, 9, 4, 32, 8})}, hnd)))
      << "another order, block size and number of blocks";
  EXPECT_FALSE(nhd.same_object_shape(layout_of({contiguous_desc("float16", {2, 10, 16, 4, 8})})));
  EXPECT_FALSE(nhd.same_object_shape(layout_of({contiguous_desc("bfloat16", {2, 10, 16, 5, 8})})));
  EXPECT_FALSE(nhd.same_object_shape(layout_of({contiguous_desc("bfloat16", {2, 10, 16, 4, 8}),
                                                contiguous_desc("bfloat16", {2, 10, 16, 4, 8})})));
}

// A shape that is nearly one of the six: some are left as they are, so that many are accepted.
std::vector<std::int64_t> random_shape(EngineType engine) {
  const auto size =
      rc::gen::weightedElement<std::int64_t>({{6, 1}, {8, 2}, {2, 3}, {8, 4}, {4, 8}, {1, 0}});
  const std::int64_t blocks = *rc::gen::inRange<std::int64_t>(1, 5);
  std::vector<std::int64_t> shape;
  if (engine == EngineType::kTrtllm) {
    shape = {blocks, *size, 2, 8};
  } else {
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        shape = {2, blocks, *size, *size, *size};
        break;
      case 1:
        shape = {blocks, 2, *size, *size, *size};
        break;
      default:
        shape = {blocks, *size, *size};
    }
  }
  if (*rc::gen::inRange(0, 4) == 0) shape[*rc::gen::inRange<std::size_t>(0, shape.size())] = *size;
  if (*rc::gen::inRange(0, 8) == 0) shape.push_back(*size);
  return shape;
}

// As random_shape() says, and some of them permuted or padded.
std::optional<TensorDesc> random_tensor(EngineType engine) {
  constexpr std::size_t kStorageBytes = 1 << 20;
  std::vector<std::int64_t> shape = random_shape(engine);
  std::vector<std::int64_t> stride = contiguous_stride(shape);
  if (*rc::gen::inRange(0, 4) == 0) {
    const auto a = *rc::gen::inRange<std::size_t>(0, shape.size());
    const auto b = *rc::gen::inRange<std::size_t>(0, shape.size());
    std::swap(shape[a], shape[b]);
    std::swap(stride[a], stride[b]);
  }
  if (*rc::gen::inRange(0, 3) == 0) stride[0] += *rc::gen::inRange<std::int64_t>(0, 5);
  IpcTensor wire{TorchIpcHandle{}, "bfloat16", {}, {}, *rc::gen::inRange(0, 2), ""};
  wire.shape.assign(shape.begin(), shape.end());
  wire.stride.assign(stride.begin(), stride.end());
  std::get<TorchIpcHandle>(wire.handle).storage_size_bytes = kStorageBytes;
  Result<TensorDesc> desc = tensor_desc(wire, kStorageBytes);
  if (!desc) return std::nullopt;
  // As if the storage ended with the last element.
  std::size_t extent = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] > 0) extent += static_cast<std::size_t>((shape[axis] - 1) * stride[axis]);
  desc->available_bytes = extent * desc->element_size;
  return std::move(desc).value();
}

TEST(Layout, KeepsRunsInsideForAnyTensors) {
  const bool held = rc::check("a layout is refused, or all its runs lie inside", [] {
    const EngineType engine =
        *rc::gen::weightedElement<EngineType>({{4, EngineType::kVllm}, {1, EngineType::kTrtllm}});
    std::vector<TensorDesc> tensors;
    const auto num_tensors =
        engine == EngineType::kTrtllm ? 1 : *rc::gen::inRange<std::size_t>(1, 4);
    while (tensors.size() < num_tensors) {
      const bool same = !tensors.empty() && *rc::gen::inRange(0, 4) != 0;
      const std::optional<TensorDesc> next = same ? tensors[0] : random_tensor(engine);
      if (!next) return;
      tensors.push_back(*next);
    }
    LayoutHints hints;
    if (*rc::gen::arbitrary<bool>()) hints.kv_layout = KvLayout::kHND;
    if (*rc::gen::arbitrary<bool>())
      hints.inference_engine_logical_block_size = Int(*rc::gen::element(8, 16, 4, 3, 0, -8));
    hints.num_kv_heads = hints.tokens_per_block = hints.head_dim = Int(2);
    const Result<Layout> layout = discover_layout(tensors, engine, hints, 16);
    RC_CLASSIFY(layout.ok(), "accepted");
    if (!layout) return;
    std::size_t covered = 0;
    for (std::size_t index = 0; index < layout->blocks_per_chunk(); ++index)
      for_each_run(*layout, static_cast<std::int64_t>(layout->num_blocks) - 1, index,
                   [&](const kvc::Run& run) {
                     const TensorDesc& desc = layout->tensors.at(run.tensor);
                     RC_ASSERT(run.tensor_offset >= desc.base_offset_bytes);
                     RC_ASSERT(run.tensor_offset + run.size <=
                               desc.base_offset_bytes + desc.available_bytes);
                     RC_ASSERT(run.object_offset + run.size <= layout->chunk_bytes);
                     covered += run.size;
                   });
    RC_ASSERT(covered == layout->chunk_bytes);
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace kvc
