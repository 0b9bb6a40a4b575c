// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: tokens [offset, offset + chunk) of a blend buffer [2, NL, T, D] make the object
// [2, NL, chunk, D], whatever the strides. Method: the place of every byte by nested loops.
#include <gtest/gtest.h>

#include "device/test_support.h"
#include "kvc/device/layout.h"

namespace kvc {
namespace {

using test::contiguous_desc;

constexpr std::size_t kLayers = 3, kTokens = 11, kHidden = 5, kChunk = 4;

TensorDesc contiguous() { return contiguous_desc("bfloat16", {2, kLayers, kTokens, kHidden}); }

// Byte offsets in the buffer of the object's bytes, in the object's order.
std::vector<std::size_t> expected_offsets(const TensorDesc& desc, std::size_t first_token) {
  std::vector<std::size_t> offsets;
  for (std::size_t kv = 0; kv < 2; ++kv)
    for (std::size_t layer = 0; layer < kLayers; ++layer)
      for (std::size_t token = first_token; token < first_token + kChunk; ++token)
        for (std::size_t i = 0; i < kHidden; ++i)
          for (std::size_t byte = 0; byte < desc.element_size; ++byte)
            offsets.push_back(desc.base_offset_bytes + byte +
                              desc.element_size *
                                  (kv * static_cast<std::size_t>(desc.stride[0]) +
                                   layer * static_cast<std::size_t>(desc.stride[1]) +
                                   token * static_cast<std::size_t>(desc.stride[2]) +
                                   i * static_cast<std::size_t>(desc.stride[3])));
  return offsets;
}

std::vector<std::size_t> offsets_by_runs(const Layout& layout, std::size_t first_token) {
  std::vector<std::size_t> offsets(layout.chunk_bytes);
  for (std::size_t i = 0; i < kChunk; ++i)
    for_each_run(layout, static_cast<std::int64_t>(first_token + i), i, [&](const kvc::Run& run) {
      for (std::size_t byte = 0; byte < run.size; ++byte)
        offsets.at(run.object_offset + byte) = run.tensor_offset + byte;
    });
  return offsets;
}

TEST(BlendLayout, MakesTheObjectOfAnyTokens) {
  TensorDesc desc = contiguous();
  desc.base_offset_bytes = 64;
  const Result<Layout> layout = blend_layout({desc}, kChunk);
  ASSERT_TRUE(layout.ok()) << layout.error().text();
  EXPECT_EQ(layout->num_blocks, kTokens);
  EXPECT_EQ(layout->blocks_per_chunk(), kChunk);
  EXPECT_EQ(layout->chunk_bytes, 2 * kLayers * kChunk * kHidden * 2);
  for (std::size_t first = 0; first + kChunk <= kTokens; ++first)
    EXPECT_EQ(offsets_by_runs(*layout, first), expected_offsets(desc, first)) << first;
}

TEST(BlendLayout, TakesAnyStrides) {
  TensorDesc desc = contiguous();  // in memory [T, D, NL, 2]
  desc.stride = {1, 2, kHidden * kLayers * 2, kLayers * 2};
  const Result<Layout> layout = blend_layout({desc}, kChunk);
  ASSERT_TRUE(layout.ok()) << layout.error().text();
  EXPECT_EQ(offsets_by_runs(*layout, 3), expected_offsets(desc, 3));
}

TEST(BlendLayout, LooksLikePagedBlocksOfOneGroup) {
  const Result<Layout> blend = blend_layout({contiguous_desc("uint8", {2, 2, 16, 12})}, 8);
  const TensorDesc layer = contiguous_desc("uint8", {2, 4, 4, 3, 4});
  const Result<Layout> paged = discover_layout({layer, layer}, EngineType::kVllm, {}, 8);
  ASSERT_TRUE(blend.ok() && paged.ok());
  EXPECT_EQ(blend->chunk_bytes, paged->chunk_bytes);
  ASSERT_EQ(blend->groups.size(), paged->groups.size());
  EXPECT_EQ(blend->groups[0].hidden_bytes(), paged->groups[0].hidden_bytes());
  EXPECT_EQ(blend->groups[0].layers, paged->groups[0].layers);
}

TEST(BlendLayout, RefusesWhatIsNoBlendBuffer) {
  const auto refusal = [](std::vector<TensorDesc> tensors) {
    const Result<Layout> layout = blend_layout(std::move(tensors), kChunk);
    return layout.ok() ? std::string("taken") : layout.error().text();
  };
  EXPECT_EQ(refusal({}), "$: a blend buffer is one tensor, got 0");
  EXPECT_EQ(refusal({contiguous(), contiguous()}), "$: a blend buffer is one tensor, got 2");
  EXPECT_EQ(refusal({contiguous_desc("uint8", {2, 3, 4})}),
            "$[0].shape: expected [2, NL, T, D], got [2, 3, 4]");
  EXPECT_EQ(refusal({contiguous_desc("uint8", {1, 3, 4, 5})}),
            "$[0].shape: expected [2, NL, T, D], got [1, 3, 4, 5]");
  EXPECT_EQ(refusal({contiguous_desc("uint8", {2, 3, 0, 5})}), "$[0].shape: empty: [2, 3, 0, 5]");
}

}  // namespace
}  // namespace kvc
