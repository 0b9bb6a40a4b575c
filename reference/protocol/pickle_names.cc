// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "pickle_names.h"

#include <algorithm>

namespace kvc {

bool is_torch_dtype(std::string_view name) {
  // As torch 2.15 lists them; each pickles as the global of this name.
  static constexpr std::string_view kNames[] = {
      "bcomplex32",
      "bfloat16",
      "bits16",
      "bits1x8",
      "bits2x4",
      "bits4x2",
      "bits8",
      "bool",
      "complex128",
      "complex32",
      "complex64",
      "float16",
      "float32",
      "float4_e2m1fn_x2",
      "float64",
      "float8_e4m3fn",
      "float8_e4m3fnuz",
      "float8_e5m2",
      "float8_e5m2fnuz",
      "float8_e8m0fnu",
      "int1",
      "int16",
      "int2",
      "int3",
      "int32",
      "int4",
      "int5",
      "int6",
      "int64",
      "int7",
      "int8",
      "qint32",
      "qint8",
      "quint2x4",
      "quint4x2",
      "quint8",
      "uint1",
      "uint16",
      "uint2",
      "uint3",
      "uint32",
      "uint4",
      "uint5",
      "uint6",
      "uint64",
      "uint7",
      "uint8",
  };
  return std::ranges::find(kNames, name) != std::end(kNames);
}

}  // namespace kvc
