// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "device/checked.h"
#include "device/format_axes.h"
#include "device/layer_groups.h"
#include "device/physical_order.h"
#include "device/shape_text.h"
#include "kvc/device/layout.h"
#include "kvc/protocol/limits.h"

namespace kvc {
namespace {

std::string path_of(std::size_t tensor, const char* field) {
  return "$[" + std::to_string(tensor) + "]" + field;
}

Error unsupported(std::size_t tensor, std::string message) {
  return {Errc::kUnsupported, path_of(tensor, ".shape"), std::move(message)};
}

Result<void> to_physical_order(std::vector<TensorDesc>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (std::size_t axis = 0; axis < tensors[i].shape.size(); ++axis)
      if (tensors[i].shape[axis] == 0)
        return Error{Errc::kInvalidArgument, path_of(i, ".shape[") + std::to_string(axis) + "]",
                     "a tensor without elements"};
    Result<TensorDesc> ordered = physical_order(std::move(tensors[i]), path_of(i, ""));
    if (!ordered) return ordered.error();
    tensors[i] = std::move(ordered).value();
  }
  return {};
}

// Dimensions of one element may have any stride. Give them the tight one, so that whoever reads
// strides later need not know.
void tidy_strides(TensorDesc& desc) {
  std::int64_t tight = 1;
  for (std::size_t i = desc.shape.size(); i-- > 0;) {
    if (desc.shape[i] == 1) desc.stride[i] = tight;
    tight *= desc.shape[i];
  }
}

Result<KvFormat> vllm_format(const TensorDesc& first, const LayoutHints& hints) {
  const bool hnd = hints.kv_layout == KvLayout::kHND;
  if (first.shape.size() == 3) return KvFormat::kNlXNbBsHs;
  if (first.shape.size() == 5 && first.shape[0] == 2)
    return hnd ? KvFormat::kNlXTwoNbNhBsHs : KvFormat::kNlXTwoNbBsNhHs;
  if (first.shape.size() == 5 && first.shape[1] == 2)
    return hnd ? KvFormat::kNlXNbTwoNhBsHs : KvFormat::kNlXNbTwoBsNhHs;
  return unsupported(0, "expected [2, NB, …] or [NB, 2, …] of 5 dimensions, or 3 for MLA, got " +
                            text_of(first.shape));
}

Result<std::int64_t> required_hint(const std::optional<Int>& hint, const char* name) {
  const std::string path = std::string("$.layout_hints.") + name;
  if (!hint) return Error{Errc::kInvalidArgument, path, "engine trtllm needs this hint"};
  const auto value = hint->as_i64();
  if (!value || *value <= 0)
    return Error{Errc::kInvalidArgument, path, "expected 1 or more, got " + hint->to_string()};
  return *value;
}

// [NB, NL, 2, NH*BS*HS] becomes [NB, NL, 2, NH, BS, HS]: only the hints know the three.
Result<void> split_trtllm_pool(TensorDesc& pool, const LayoutHints& hints) {
  const Result<std::int64_t> heads = required_hint(hints.num_kv_heads, "num_kv_heads");
  if (!heads) return heads.error();
  const Result<std::int64_t> slots = required_hint(hints.tokens_per_block, "tokens_per_block");
  if (!slots) return slots.error();
  const Result<std::int64_t> elements = required_hint(hints.head_dim, "head_dim");
  if (!elements) return elements.error();

  CheckedSize product(static_cast<std::size_t>(*heads));
  product *= static_cast<std::size_t>(*slots);
  product *= static_cast<std::size_t>(*elements);
  const std::int64_t flat = pool.shape[3];
  if (!product.ok() || product.value() != static_cast<std::size_t>(flat))
    return Error{Errc::kInvalidArgument, path_of(0, ".shape[3]"),
                 std::to_string(flat) + " is not num_kv_heads * tokens_per_block * head_dim = " +
                     std::to_string(*heads) + " * " + std::to_string(*slots) + " * " +
                     std::to_string(*elements)};
  pool.shape = {pool.shape[0], pool.shape[1], pool.shape[2], *heads, *slots, *elements};
  pool.stride = {pool.stride[0], pool.stride[1], pool.stride[2], *slots * *elements, *elements, 1};
  tidy_strides(pool);  // as torch's view does: a pool of one block has no padding
  return {};
}

Result<KvFormat> trtllm_format(std::vector<TensorDesc>& tensors, const LayoutHints& hints) {
  if (tensors.size() != 1)
    return Error{Errc::kUnsupported, "$",
                 "engine trtllm has one tensor, got " + std::to_string(tensors.size())};
  if (tensors[0].shape.size() == 4) {
    const Result<void> split = split_trtllm_pool(tensors[0], hints);
    if (!split) return split.error();
  }
  if (tensors[0].shape.size() != 6)
    return unsupported(0, "expected [NB, NL, 2, NH*BS*HS], got " + text_of(tensors[0].shape));
  return KvFormat::kNbNlTwoNhBsHs;
}

Result<KvFormat> find_format(std::vector<TensorDesc>& tensors, EngineType engine,
                             const LayoutHints& hints) {
  switch (engine) {
    case EngineType::kVllm:
      return vllm_format(tensors.front(), hints);
    case EngineType::kTrtllm:
      return trtllm_format(tensors, hints);
    case EngineType::kSglang:
    case EngineType::kMock:
      break;
  }
  return Error{
      Errc::kUnsupported, "$.engine_type",
      std::string("tensors of engine ") + to_string(engine) + " have no paged blocks here"};
}

// The first tensor told the format; all must have it, and only MLA's blocks may be padded.
Result<void> check_tensors(const std::vector<TensorDesc>& tensors, KvFormat format) {
  const FormatAxes axes = format_axes(format);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorDesc& desc = tensors[i];
    if (desc.shape.size() != axes.rank)
      return unsupported(i, "expected " + std::to_string(axes.rank) +
                                " dimensions, as in the first tensor, got " + text_of(desc.shape));
    if (axes.kv != FormatAxes::kNone && desc.shape[axes.kv] != 2)
      return unsupported(i, "expected 2 (keys and values) in dimension " + std::to_string(axes.kv) +
                                ", got " + text_of(desc.shape));
    if (format != KvFormat::kNlXNbBsHs && desc.stride[0] > tight_stride_0(desc))
      return Error{Errc::kUnsupported, path_of(i, ".stride[0]"),
                   "only MLA's blocks may be padded: stride " + std::to_string(desc.stride[0]) +
                       " where " + std::to_string(tight_stride_0(desc)) + " would be contiguous"};
  }
  return {};
}

}  // namespace

std::string_view to_string(KvFormat format) {
  switch (format) {
    case KvFormat::kNlXTwoNbBsNhHs:
      return "NL_X_TWO_NB_BS_NH_HS";
    case KvFormat::kNlXTwoNbNhBsHs:
      return "NL_X_TWO_NB_NH_BS_HS";
    case KvFormat::kNlXNbTwoBsNhHs:
      return "NL_X_NB_TWO_BS_NH_HS";
    case KvFormat::kNlXNbTwoNhBsHs:
      return "NL_X_NB_TWO_NH_BS_HS";
    case KvFormat::kNlXNbBsHs:
      return "NL_X_NB_BS_HS";
    case KvFormat::kNbNlTwoNhBsHs:
      return "NB_NL_TWO_NH_BS_HS";
    case KvFormat::kTwoNlTD:
      return "TWO_NL_T_D";
  }
  return "unknown";
}

Result<Layout> discover_layout(std::vector<TensorDesc> tensors, EngineType engine,
                               const LayoutHints& hints, std::size_t chunk_size) {
  KVC_ASSERT(chunk_size > 0);
  if (tensors.empty()) return Error{Errc::kInvalidArgument, "$", "no tensors"};
  const Result<void> ordered = to_physical_order(tensors);
  if (!ordered) return ordered.error();
  const Result<KvFormat> format = find_format(tensors, engine, hints);
  if (!format) return format.error();
  const Result<void> checked = check_tensors(tensors, *format);
  if (!checked) return checked.error();

  Layout layout;
  layout.format = *format;
  layout.chunk_size = chunk_size;
  const FormatAxes axes = format_axes(*format);
  layout.num_layers = axes.layer == FormatAxes::kNone
                          ? tensors.size()
                          : static_cast<std::size_t>(tensors[0].shape[axes.layer]);
  if (layout.num_layers > limits::kTensorsMax)
    return unsupported(0, "at most " + std::to_string(limits::kTensorsMax) + " layers, got " +
                              std::to_string(layout.num_layers));
  layout.num_blocks = static_cast<std::size_t>(tensors[0].shape[axes.block]);
  for (TensorDesc& desc : tensors) {
    tidy_strides(desc);
    layout.num_blocks =
        std::min(layout.num_blocks, static_cast<std::size_t>(desc.shape[axes.block]));
  }
  layout.tensors = std::move(tensors);
  const Result<void> grouped = group_layers(layout, hints.inference_engine_logical_block_size);
  if (!grouped) return grouped.error();
  return layout;
}

bool Layout::same_object_shape(const Layout& other) const {
  const auto same = [](const LayerGroup& a, const LayerGroup& b) {
    return a.layers == b.layers && a.kv_size == b.kv_size && a.dtype == b.dtype &&
           a.num_heads * a.head_size == b.num_heads * b.head_size &&
           a.slots_per_chunk == b.slots_per_chunk;
  };
  return chunk_size == other.chunk_size &&
         std::equal(groups.begin(), groups.end(), other.groups.begin(), other.groups.end(), same);
}

}  // namespace kvc
