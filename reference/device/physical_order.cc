// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/physical_order.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

namespace kvc {
namespace {

// As torch says it: a dimension of one element may have any stride.
bool is_contiguous(const TensorDesc& desc) {
  std::int64_t tight = 1;
  for (std::size_t i = desc.shape.size(); i-- > 0;) {
    if (desc.shape[i] == 1) continue;
    if (desc.stride[i] != tight) return false;
    tight *= desc.shape[i];
  }
  return true;
}

TensorDesc sorted_by_stride(const TensorDesc& desc) {
  std::vector<std::size_t> order(desc.shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return desc.stride[a] > desc.stride[b]; });
  TensorDesc sorted = desc;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted.shape[i] = desc.shape[order[i]];
    sorted.stride[i] = desc.stride[order[i]];
  }
  return sorted;
}

}  // namespace

std::int64_t tight_stride_0(const TensorDesc& desc) {
  std::int64_t tight = 1;
  for (std::size_t i = 1; i < desc.shape.size(); ++i) tight *= desc.shape[i];
  return tight;
}

Result<TensorDesc> physical_order(TensorDesc desc, std::string_view path) {
  if (is_contiguous(desc)) return desc;
  TensorDesc sorted = sorted_by_stride(desc);
  if (is_contiguous(sorted)) return sorted;

  const auto refuse = [&](std::string message) {
    return Error{Errc::kUnsupported, std::string(path) + ".stride", std::move(message)};
  };
  const std::size_t rank = sorted.shape.size();
  if (rank < 2) return refuse("a vector with gaps is not supported");
  if (sorted.stride[rank - 1] != 1) return refuse("no dimension has stride 1");
  std::int64_t tight = 1;
  for (std::size_t i = rank - 1; i > 0; --i) {
    if (sorted.stride[i] != tight)
      return refuse("gaps inside a block are not supported: stride " +
                    std::to_string(sorted.stride[i]) + " where " + std::to_string(tight) +
                    " would be contiguous");
    tight *= sorted.shape[i];
  }
  if (sorted.stride[0] < tight)
    return refuse("overlapping blocks: stride " + std::to_string(sorted.stride[0]) +
                  " for blocks of " + std::to_string(tight) + " elements");
  if (sorted.storage_offset != 0)
    return Error{Errc::kUnsupported, std::string(path) + ".storage_offset",
                 "expected 0 in a padded tensor, got " + std::to_string(sorted.storage_offset)};
  return sorted;
}

}  // namespace kvc
