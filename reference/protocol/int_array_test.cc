// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/int_array.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "int_scan.h"
#include "kvc/protocol/codec.h"

namespace kvc {
namespace {

constexpr std::int64_t kI64Min = std::numeric_limits<std::int64_t>::min();
constexpr std::uint64_t kU64Max = std::numeric_limits<std::uint64_t>::max();

TEST(Int, OrdersOverBothSigns) {
  EXPECT_LT(Int(kI64Min), Int(-1));
  EXPECT_LT(Int(-1), Int(0));
  EXPECT_LT(Int(std::numeric_limits<std::int64_t>::max()), Int(kU64Max));
  EXPECT_NE(Int(-1), Int(kU64Max));  // the same bits
}

TEST(Int, ConvertsOnlyWhereItFits) {
  EXPECT_FALSE(Int(kU64Max).as_i64().has_value());
  EXPECT_FALSE(Int(-1).as_u64().has_value());
  EXPECT_FALSE(Int(std::uint64_t{1} << 32).as_u32().has_value());
  EXPECT_EQ(Int(kI64Min).to_string(), "-9223372036854775808");
  EXPECT_EQ(Int(kU64Max).to_string(), "18446744073709551615");
}

TEST(IntArray, KeepsAnyIntegers) {
  const std::vector<Int> values = {0, 127, 128, -1, -33, kI64Min, kU64Max, 65536};
  const IntArray array = IntArray::of(values);
  EXPECT_EQ(array.to_vector(), values);
  EXPECT_EQ(array.size(), values.size());
  EXPECT_TRUE(array.minimal());
  EXPECT_FALSE(array.all_fit_u32());
}

TEST(IntArray, ReadsU32AcrossAllWidths) {
  std::vector<std::uint32_t> values;
  for (const std::uint32_t edge : {0U, 127U, 128U, 255U, 256U, 65535U, 65536U, 0xffffffffU}) {
    for (int i = 0; i < 3; ++i) values.push_back(edge);
  }
  const IntArray array = IntArray::of_u32(values);
  ASSERT_TRUE(array.all_fit_u32());
  for (std::size_t first = 0; first <= values.size(); ++first) {  // in two parts, cut anywhere
    std::vector<std::uint32_t> out(values.size());
    IntArray::Iterator at = array.begin();
    at.read_u32(out.data(), first);
    at.read_u32(out.data() + first, values.size() - first);
    EXPECT_EQ(out, values);
    EXPECT_EQ(at, array.end());
  }
}

TEST(IntArray, ReadsU32FromLongEncodings) {
  // Ten times 5, as uint64 and as int16: none of the lengths that a token usually has.
  Bytes frame = {0xdc, 0x00, 0x14};
  for (int i = 0; i < 10; ++i) {
    frame.insert(frame.end(), {0xcf, 0, 0, 0, 0, 0, 0, 0, 5, 0xd1, 0, 5});
  }
  const Result<IntArray> array = decode<IntArray>(frame);
  ASSERT_TRUE(array.ok());
  EXPECT_TRUE(array->all_fit_u32());
  EXPECT_FALSE(array->minimal());
  std::vector<std::uint32_t> out(20);
  array->begin().read_u32(out.data(), out.size());
  EXPECT_EQ(out, std::vector<std::uint32_t>(20, 5));
  EXPECT_EQ(encoded(*array).size(), 3U + 20U);  // encoding makes it short again
}

TEST(IntArray, ComparesValuesAndNotEncodings) {
  const Bytes long_frame = {0x92, 0xcd, 0x00, 0x01, 0xd0, 0x02};
  const Result<IntArray> array = decode<IntArray>(long_frame);
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(*array, (IntArray{1, 2}));
  EXPECT_NE(*array, (IntArray{1, 3}));
  EXPECT_NE(*array, (IntArray{1}));
}

TEST(IntArray, OwnOutlivesTheFrame) {
  IntArray kept;
  {
    const Bytes frame = encoded(IntArray{1, 300, 70000});
    kept = decode<IntArray>(frame).value().own();
  }
  EXPECT_EQ(kept, (IntArray{1, 300, 70000}));
}

// Arrays for the lanes: the sizes are around one block of 4 KiB, and several.
Bytes random_elements(std::mt19937& random, std::size_t size, int kind) {
  std::vector<std::uint32_t> values(size);
  for (std::uint32_t& value : values) {
    switch (kind) {
      case 0:
        value = static_cast<std::uint32_t>(random() % 200000);  // token ids
        break;
      case 1:
        value = 0xcdcdcdcd;  // every byte looks like the start of an integer
        break;
      case 2:
        value = static_cast<std::uint32_t>(random() % 128);
        break;
      default:
        value = static_cast<std::uint32_t>(random()) >> (random() % 32);  // all widths
    }
  }
  return to_bytes(IntArray::of_u32(values).encoded());
}

TEST(IntScan, LanesSeeWhatThePlainLoopSees) {
  std::mt19937 random(20240601);  // any seed; the cases differ by it alone
  for (int round = 0; round < 400; ++round) {
    const std::size_t size = random() % 12000;
    Bytes elements = random_elements(random, size, static_cast<int>(random() % 4));
    if (round % 3 == 0 && !elements.empty()) {  // a byte that changes a length, a kind or a value
      elements[random() % elements.size()] = static_cast<std::uint8_t>(random());
    }
    if (round % 5 == 0)
      elements.resize(elements.size() - std::min<std::size_t>(3, elements.size()));
    for (const std::size_t count : {size, size / 2, size + 1}) {
      const IntScan lanes = scan_ints(elements, count);
      const IntScan plain = scan_ints_one_by_one(elements, count);
      ASSERT_EQ(lanes.num_ints, plain.num_ints) << "round " << round;
      ASSERT_EQ(lanes.num_bytes, plain.num_bytes) << "round " << round;
      ASSERT_EQ(lanes.all_fit_u32, plain.all_fit_u32) << "round " << round;
      ASSERT_EQ(lanes.minimal, plain.minimal) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace kvc
