// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: for_each_run is the meaning that faster copies are tested against, so it is itself tested
// against the shapes of the formats, written out by hand here and nowhere else.
#include "device/block_strides.h"

#include <gtest/gtest.h>

#include <array>

#include "device/test_support.h"

namespace kvc {
namespace {

using test::contiguous_desc;

constexpr std::size_t kLayers = 2, kBlocks = 3, kSlots = 4, kHeads = 3, kElements = 5;
constexpr std::size_t kChunk = 8;  // tokens: two blocks

// What stands at one element of the engine's memory: which layer, kv, block, slot, head, element.
using Place = std::array<std::size_t, 6>;

// The offset of a place in a contiguous tensor, by the letters of its format's name.
std::size_t offset_by_letters(const std::string& letters, const Place& place) {
  const auto [layer, kv, block, slot, head, element] = place;
  std::size_t offset = 0;
  for (const char letter : letters) {
    switch (letter) {
      case 'L':
        offset = offset * kLayers + layer;
        break;
      case '2':
        offset = offset * 2 + kv;
        break;
      case 'B':
        offset = offset * kBlocks + block;
        break;
      case 'S':
        offset = offset * kSlots + slot;
        break;
      case 'H':
        offset = offset * kHeads + head;
        break;
      case 'E':
        offset = offset * kElements + element;
        break;
      default:
        ADD_FAILURE() << letter;
    }
  }
  return offset;
}

struct FormatCase {
  KvFormat format;
  const char* letters;
  EngineType engine;
  bool hnd;
  std::vector<std::int64_t> shape;
};

const FormatCase kFormats[] = {
    {KvFormat::kNlXTwoNbBsNhHs, "2BSHE", EngineType::kVllm, false, {2, 3, 4, 3, 5}},
    {KvFormat::kNlXTwoNbNhBsHs, "2BHSE", EngineType::kVllm, true, {2, 3, 3, 4, 5}},
    {KvFormat::kNlXNbTwoBsNhHs, "B2SHE", EngineType::kVllm, false, {3, 2, 4, 3, 5}},
    {KvFormat::kNlXNbTwoNhBsHs, "B2HSE", EngineType::kVllm, true, {3, 2, 3, 4, 5}},
    {KvFormat::kNlXNbBsHs, "BSE", EngineType::kVllm, false, {3, 4, 5}},
    {KvFormat::kNbNlTwoNhBsHs, "BL2HSE", EngineType::kTrtllm, false, {3, 2, 2, 3, 4, 5}},
};

TEST(Run, LeadsWhereTheFormatSays) {
  for (const FormatCase& format : kFormats) {
    SCOPED_TRACE(to_string(format.format));
    const bool mla = format.format == KvFormat::kNlXNbBsHs;
    const bool one_tensor = format.engine == EngineType::kTrtllm;
    const std::size_t num_heads = mla ? 1 : kHeads, kv_size = mla ? 1 : 2;
    LayoutHints hints;
    if (format.hnd) hints.kv_layout = KvLayout::kHND;
    const std::vector<TensorDesc> tensors(one_tensor ? 1 : kLayers,
                                          contiguous_desc("float32", format.shape));
    const Result<Layout> layout = discover_layout(tensors, format.engine, hints, kChunk);
    ASSERT_TRUE(layout.ok()) << layout.error().text();
    ASSERT_EQ(layout->format, format.format);

    // Where each byte of the object must come from.
    struct Source {
      std::size_t tensor, offset;
    };
    constexpr std::size_t kSize = sizeof(float);
    const std::array<std::size_t, 2> block_ids = {2, 0};
    std::vector<Source> expected;
    for (std::size_t kv = 0; kv < kv_size; ++kv)
      for (std::size_t layer = 0; layer < kLayers; ++layer)
        for (std::size_t token = 0; token < kChunk; ++token)
          for (std::size_t head = 0; head < num_heads; ++head)
            for (std::size_t element = 0; element < kElements; ++element) {
              const Place place = {layer,          kv,   block_ids[token / kSlots],
                                   token % kSlots, head, element};
              const std::size_t offset = offset_by_letters(format.letters, place) * kSize;
              for (std::size_t byte = 0; byte < kSize; ++byte)
                expected.push_back({one_tensor ? 0 : layer, offset + byte});
            }
    ASSERT_EQ(layout->chunk_bytes, expected.size());

    std::vector<int> visits(expected.size());
    for (std::size_t index = 0; index < block_ids.size(); ++index)
      for_each_run(*layout, static_cast<std::int64_t>(block_ids[index]), index,
                   [&](const kvc::Run& run) {
                     for (std::size_t i = 0; i < run.size; ++i) {
                       const Source& source = expected.at(run.object_offset + i);
                       ASSERT_EQ(run.tensor, source.tensor);
                       ASSERT_EQ(run.tensor_offset + i, source.offset);
                       ++visits[run.object_offset + i];
                     }
                   });
    for (const int count : visits) ASSERT_EQ(count, 1);
  }
}

TEST(Run, StepsOverPadding) {
  TensorDesc padded = contiguous_desc("uint8", {3, 4, 5});
  padded.stride[0] = 32;
  padded.available_bytes = 2 * 32 + 20;
  const Result<Layout> layout = discover_layout({padded}, EngineType::kVllm, {}, 4);
  ASSERT_TRUE(layout.ok()) << layout.error().text();
  std::vector<std::size_t> offsets;
  for_each_run(*layout, 2, 0, [&](const kvc::Run& run) { offsets.push_back(run.tensor_offset); });
  EXPECT_EQ(offsets, (std::vector<std::size_t>{64, 69, 74, 79}));
}

TEST(Run, CountsTheBaseOffset) {
  TensorDesc desc = contiguous_desc("uint8", {3, 4, 5});
  desc.base_offset_bytes = 1000;
  const Result<Layout> layout = discover_layout({desc}, EngineType::kVllm, {}, 4);
  ASSERT_TRUE(layout.ok()) << layout.error().text();
  std::size_t first = 0;
  for_each_run(*layout, 1, 0, [&](const kvc::Run& run) {
    if (run.object_offset == 0) first = run.tensor_offset;
  });
  EXPECT_EQ(first, 1020u);
}

// A compressed group's block holds fewer slots than an engine's block has tokens, and they follow
// each other in the group's part of the object.
TEST(Run, PlacesCompressedGroupsByTheirOwnSlots) {
  LayoutHints hints;
  hints.inference_engine_logical_block_size = Int(8);
  const Result<Layout> layout =
      discover_layout({contiguous_desc("uint8", {3, 8, 5}), contiguous_desc("uint8", {3, 2, 7})},
                      EngineType::kVllm, hints, 16);
  ASSERT_TRUE(layout.ok()) << layout.error().text();
  ASSERT_EQ(layout->groups.size(), 2u);
  EXPECT_EQ(layout->groups[1].object_offset_bytes, 16u * 5u);
  EXPECT_EQ(layout->chunk_bytes, 16u * 5u + 4u * 7u);
  std::vector<std::size_t> tensor_offsets, object_offsets;
  for_each_run(*layout, 2, 1, [&](const kvc::Run& run) {
    if (run.tensor != 1) return;
    tensor_offsets.push_back(run.tensor_offset);
    object_offsets.push_back(run.object_offset);
  });
  EXPECT_EQ(tensor_offsets, (std::vector<std::size_t>{2 * 14, 2 * 14 + 7}));
  EXPECT_EQ(object_offsets, (std::vector<std::size_t>{80 + 14, 80 + 21}));
}

}  // namespace
}  // namespace kvc
