// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/kv_geometry.h"

#include <gtest/gtest.h>

#include <set>

namespace kvc::conformance {
namespace {

EngineShape shape_of(KvFormat format) {
  EngineShape shape;
  shape.format = format;
  shape.num_layers = 3;
  shape.num_blocks = 5;
  shape.block_size = 4;
  shape.num_heads = 3;
  shape.head_size = 2;
  return shape;
}

const KvFormat kFormats[] = {KvFormat::kNlXTwoNbBsNhHs, KvFormat::kNlXTwoNbNhBsHs,
                             KvFormat::kNlXNbTwoBsNhHs, KvFormat::kNlXNbTwoNhBsHs,
                             KvFormat::kNlXNbBsHs,      KvFormat::kNbNlTwoNhBsHs};

MemoryImage zeros(const Geometry& geometry) {
  MemoryImage image;
  for (const TensorPlan& tensor : geometry.tensors()) image.emplace_back(tensor.size_bytes);
  return image;
}

TEST(Geometry, EveryByteOfATensorBelongsToOneElement) {
  for (const KvFormat format : kFormats) {
    const Geometry geometry(shape_of(format));
    std::set<std::pair<std::size_t, std::size_t>> seen;
    std::size_t num_bytes = 0;
    for (std::size_t block = 0; block < geometry.num_blocks(); ++block)
      geometry.for_each_row(block, [&](const RowPlace& row) {
        for (std::size_t i = 0; i < row.size; ++i) {
          EXPECT_LT(row.offset + i, geometry.tensors()[row.tensor].size_bytes);
          EXPECT_TRUE(seen.emplace(row.tensor, row.offset + i).second) << to_string(format);
        }
        num_bytes += row.size;
      });
    std::size_t total = 0;
    for (const TensorPlan& tensor : geometry.tensors()) total += tensor.size_bytes;
    EXPECT_EQ(num_bytes, total) << to_string(format);
    EXPECT_EQ(num_bytes, geometry.num_blocks() * geometry.block_bytes());
  }
}

// The place of one element, by the meaning of the letters in the layout's name.
TEST(Geometry, ElementsLieWhereTheLayoutsNameSays) {
  const auto offset_of = [](KvFormat format, std::size_t block, std::size_t layer, std::size_t kv,
                            std::size_t slot, std::size_t head) {
    const Geometry geometry(shape_of(format));
    std::size_t offset = 0;
    geometry.for_each_row(block, [&](const RowPlace& row) {
      if (row.layer == layer && row.kv == kv && row.slot == slot && row.head == head)
        offset = row.offset;
    });
    return offset / 2;  // bfloat16
  };
  // NL 3, NB 5, BS 4, NH 3, HS 2; block 2, layer 1, kv 1, slot 3, head 2.
  EXPECT_EQ(offset_of(KvFormat::kNlXTwoNbBsNhHs, 2, 1, 1, 3, 2),
            (((1U * 5 + 2) * 4 + 3) * 3 + 2) * 2);
  EXPECT_EQ(offset_of(KvFormat::kNlXTwoNbNhBsHs, 2, 1, 1, 3, 2),
            (((1U * 5 + 2) * 3 + 2) * 4 + 3) * 2);
  EXPECT_EQ(offset_of(KvFormat::kNlXNbTwoBsNhHs, 2, 1, 1, 3, 2),
            (((2U * 2 + 1) * 4 + 3) * 3 + 2) * 2);
  EXPECT_EQ(offset_of(KvFormat::kNlXNbTwoNhBsHs, 2, 1, 1, 3, 2),
            (((2U * 2 + 1) * 3 + 2) * 4 + 3) * 2);
  EXPECT_EQ(offset_of(KvFormat::kNlXNbBsHs, 2, 1, 0, 3, 0), (2U * 4 + 3) * 2);
  EXPECT_EQ(offset_of(KvFormat::kNbNlTwoNhBsHs, 2, 1, 1, 3, 2),
            ((((2U * 3 + 1) * 2 + 1) * 3 + 2) * 4 + 3) * 2);
}

TEST(Geometry, PutThenContentIsTheSame) {
  for (const KvFormat format : kFormats) {
    EngineShape shape = shape_of(format);
    shape.storage_offset = 6;
    if (format == KvFormat::kNlXNbBsHs) shape.dim0_padding = 10;
    const Geometry geometry(shape);
    MemoryImage image = zeros(geometry);
    const Bytes content = pattern_content(geometry, 42);
    put_block(geometry, image, 3, content);
    EXPECT_EQ(block_content(geometry, image, 3), content);
    EXPECT_EQ(block_content(geometry, image, 2), Bytes(geometry.block_bytes()));
    EXPECT_EQ(block_content(geometry, image, 4), Bytes(geometry.block_bytes()));
  }
}

TEST(Geometry, PaddingIsBetweenBlocks) {
  EngineShape shape = shape_of(KvFormat::kNlXNbBsHs);
  shape.num_layers = 1;
  shape.dim0_padding = 7;
  const Geometry geometry(shape);
  MemoryImage image = zeros(geometry);
  for (std::size_t block = 0; block < 5; ++block)
    put_block(geometry, image, block, Bytes(geometry.block_bytes(), 0xff));
  for (std::size_t at = 0; at < image[0].size(); ++at)
    EXPECT_EQ(image[0][at] == 0, at % ((8 + 7) * 2) >= 16) << at;
}

TEST(Geometry, PermutedViewShowsTheSameMemory) {
  EngineShape shape = shape_of(KvFormat::kNlXTwoNbNhBsHs);
  const Geometry plain(shape);
  shape.permuted_view = true;
  const Geometry view(shape);
  EXPECT_EQ(view.tensors()[0].shape, (std::vector<std::int64_t>{2, 5, 4, 3, 2}));
  EXPECT_EQ(view.tensors()[0].stride, (std::vector<std::int64_t>{120, 24, 2, 8, 1}));
  MemoryImage one = zeros(plain);
  MemoryImage other = zeros(view);
  put_block(plain, one, 1, pattern_content(plain, 1));
  put_block(view, other, 1, pattern_content(view, 1));
  EXPECT_EQ(one, other);
}

TEST(Geometry, PatternTellsElementsApart) {
  EngineShape shape = shape_of(KvFormat::kNlXTwoNbBsNhHs);
  shape.dtype = "float32";
  const Geometry geometry(shape);
  std::set<Bytes> elements;
  for (const std::uint64_t seed : {1U, 2U}) {
    const Bytes content = pattern_content(geometry, seed);
    for (std::size_t at = 0; at < content.size(); at += 4)
      elements.emplace(content.begin() + static_cast<std::ptrdiff_t>(at),
                       content.begin() + static_cast<std::ptrdiff_t>(at + 4));
  }
  EXPECT_EQ(elements.size(), 2 * geometry.block_bytes() / 4);
}

TEST(Geometry, SaysPlacesInWords) {
  const Geometry geometry(shape_of(KvFormat::kNlXTwoNbNhBsHs));
  EXPECT_EQ(geometry.place_in_words(0), "layer 0, kv 0, slot 0, head 0, element 0");
  EXPECT_EQ(geometry.place_in_words(geometry.block_bytes() - 1),
            "layer 2, kv 1, slot 3, head 2, element 1");
}

}  // namespace
}  // namespace kvc::conformance
