// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// physical_order: a tensor's dimensions in the order in which memory runs, as
// attempt_permute_to_contiguous_view does: an engine may show HND memory as an NHD view by strides.
#pragma once

#include <string_view>

#include "kvc/device/layout.h"

namespace kvc {

// Elements of dimensions 1 … of a tensor whose elements all lie in memory: cannot overflow.
std::int64_t tight_stride_0(const TensorDesc& desc);

// A contiguous tensor comes back as it is; another is sorted by stride. What is then still not
// contiguous must be padded in dimension 0 only, and start at its storage's first element.
// REQUIRES: no dimension is 0.
Result<TensorDesc> physical_order(TensorDesc desc, std::string_view path);

}  // namespace kvc
