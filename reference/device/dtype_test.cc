// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <gtest/gtest.h>

#include "kvc/device/layout.h"

namespace kvc {
namespace {

// Sizes as torch 2.15 says them.
TEST(Dtype, HasTheSizeOfTorch) {
  const std::pair<const char*, std::size_t> cases[] = {
      {"bfloat16", 2}, {"float16", 2},       {"float32", 4},     {"uint8", 1},
      {"int8", 1},     {"float8_e4m3fn", 1}, {"float8_e5m2", 1}, {"float64", 8},
      {"int32", 4},    {"complex128", 16},   {"half", 2},        {"double", 8},
  };
  for (const auto& [name, size] : cases) EXPECT_EQ(dtype_size_bytes(name), size) << name;
}

TEST(Dtype, IsUnknownWhenItIsNoneOfThem) {
  for (const char* name : {"", "bfloat", "BFLOAT16", "torch.bfloat16", "qint8", "bfloat16 "})
    EXPECT_EQ(dtype_size_bytes(name), 0u) << name;
}

TEST(Dtype, HasOneNameForItsAliases) {
  EXPECT_EQ(canonical_dtype("half"), "float16");
  EXPECT_EQ(canonical_dtype("long"), "int64");
  EXPECT_EQ(canonical_dtype("bfloat16"), "bfloat16");
  EXPECT_EQ(canonical_dtype("nonsense"), "nonsense");
}

}  // namespace
}  // namespace kvc
