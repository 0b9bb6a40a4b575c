// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <string>
#include <utility>

#include "device/layer_groups.h"
#include "device/shape_text.h"
#include "kvc/device/layout.h"
#include "kvc/protocol/limits.h"

namespace kvc {
namespace {

Error refuse(std::string path, std::string message) {
  return Error{Errc::kUnsupported, std::move(path), std::move(message)};
}

}  // namespace

Result<Layout> blend_layout(std::vector<TensorDesc> tensors, std::size_t chunk_size) {
  KVC_ASSERT(chunk_size > 0);
  if (tensors.size() != 1)
    return refuse("$", "a blend buffer is one tensor, got " + std::to_string(tensors.size()));
  TensorDesc& buffer = tensors.front();
  if (buffer.shape.size() != 4 || buffer.shape[0] != 2)
    return refuse("$[0].shape", "expected [2, NL, T, D], got " + text_of(buffer.shape));
  for (const std::int64_t size : buffer.shape)
    if (size == 0) return refuse("$[0].shape", "empty: " + text_of(buffer.shape));
  if (static_cast<std::size_t>(buffer.shape[1]) > limits::kTensorsMax)
    return refuse("$[0].shape[1]", "at most " + std::to_string(limits::kTensorsMax) +
                                       " layers, got " + std::to_string(buffer.shape[1]));

  // As [2, NL, T, heads, elements]: one head of D elements, or, where these do not lie side by
  // side, D heads of one.
  const std::int64_t hidden = buffer.shape[3];
  const std::int64_t hidden_stride = buffer.stride[3];
  const bool side_by_side = hidden == 1 || hidden_stride == 1;
  buffer.shape[3] = side_by_side ? 1 : hidden;
  buffer.shape.push_back(side_by_side ? hidden : 1);
  buffer.stride[3] = side_by_side ? hidden : hidden_stride;
  buffer.stride.push_back(1);

  Layout layout;
  layout.format = KvFormat::kTwoNlTD;
  layout.chunk_size = chunk_size;
  layout.num_layers = static_cast<std::size_t>(buffer.shape[1]);
  layout.num_blocks = static_cast<std::size_t>(buffer.shape[2]);
  layout.tensors = std::move(tensors);
  const Result<void> grouped = group_layers(layout, std::nullopt);
  if (!grouped) return grouped.error();
  return layout;
}

}  // namespace kvc
