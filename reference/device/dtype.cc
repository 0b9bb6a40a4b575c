// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <array>

#include "kvc/device/layout.h"

namespace kvc {
namespace {

struct Dtype {
  std::string_view name;
  std::string_view alias;
  std::size_t size_bytes;
};

// The dtypes of torch 2.15 whose storage is plain bytes. Left out on purpose: quantized types (they
// need a scale that does not cross the wire) and bits*/int1…int7 (no engine keeps KV in them).
constexpr std::array kDtypes = std::to_array<Dtype>({
    {"bfloat16", "", 2},
    {"float16", "half", 2},
    {"float32", "float", 4},
    {"float64", "double", 8},
    {"uint8", "", 1},
    {"int8", "", 1},
    {"int16", "short", 2},
    {"int32", "int", 4},
    {"int64", "long", 8},
    {"uint16", "", 2},
    {"uint32", "", 4},
    {"uint64", "", 8},
    {"bool", "", 1},
    {"float8_e4m3fn", "", 1},
    {"float8_e4m3fnuz", "", 1},
    {"float8_e5m2", "", 1},
    {"float8_e5m2fnuz", "", 1},
    {"float8_e8m0fnu", "", 1},
    {"float4_e2m1fn_x2", "", 1},
    {"complex32", "chalf", 4},
    {"complex64", "cfloat", 8},
    {"complex128", "cdouble", 16},
});

const Dtype* find(std::string_view name) {
  for (const Dtype& dtype : kDtypes)
    if (name == dtype.name || (!dtype.alias.empty() && name == dtype.alias)) return &dtype;
  return nullptr;
}

}  // namespace

std::size_t dtype_size_bytes(std::string_view dtype) {
  const Dtype* found = find(dtype);
  return found == nullptr ? 0 : found->size_bytes;
}

std::string_view canonical_dtype(std::string_view dtype) {
  const Dtype* found = find(dtype);
  return found == nullptr ? dtype : found->name;
}

}  // namespace kvc
