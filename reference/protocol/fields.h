// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Fields: the names of the classes that travel as maps, in the order in which they are encoded, and
// the loop that decodes such a map.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <string_view>

#include "reader.h"

namespace kvc {

inline constexpr std::array<std::string_view, 8> kKeyFields = {
    "model_name", "world_size", "worker_id",  "token_ids",
    "start",      "end",        "request_id", "cache_salt",
};
inline constexpr std::size_t kNumRequiredKeyFields = 7;  // cache_salt has a default

inline constexpr std::array<std::string_view, 3> kRecordFields = {"req_id", "new_block_ids",
                                                                  "new_token_ids"};

inline constexpr std::array<std::string_view, 5> kMatchFields = {"old_st", "old_ed", "cur_st",
                                                                 "cur_ed", "hash"};

inline constexpr std::array<std::string_view, 5> kHintFields = {
    "kv_layout",
    "num_kv_heads",
    "tokens_per_block",
    "head_dim",
    "inference_engine_logical_block_size",
};

// Collects LayoutHints::order: the fields as they first come, then those that never came.
class HintOrder {
 public:
  void add(std::size_t field) {
    if (seen_[field]) return;
    seen_.set(field);
    order_[num_seen_++] = static_cast<std::uint8_t>(field);
  }
  std::array<std::uint8_t, kHintFields.size()> finish() {
    for (std::size_t field = 0; field < kHintFields.size(); ++field) add(field);
    return order_;
  }

 private:
  std::array<std::uint8_t, kHintFields.size()> order_{};
  std::bitset<kHintFields.size()> seen_;
  std::size_t num_seen_ = 0;
};

// Decodes a map whose keys are field names, in any order; a field that comes twice is read twice
// (the last wins), an unknown one is skipped, and of the first `num_required` none may be missing.
// read_field(index, path) reads the value of one field.
template <std::size_t kSize, class ReadField>
bool read_fields(Reader& reader, const Path& path, const std::array<std::string_view, kSize>& names,
                 std::size_t num_required, ReadField read_field) {
  std::size_t num_pairs = 0;
  if (!reader.read_map(path, num_pairs)) return false;
  std::bitset<kSize> seen;
  std::size_t likely = 0;  // peers write the fields in order, so the next name is likely the next
  for (std::size_t pair = 0; pair < num_pairs; ++pair) {
    std::string_view name;
    if (!reader.read_name(path.key(), name)) return false;
    std::size_t index = likely;
    if (index >= kSize || names[index] != name) {
      index = 0;
      while (index < kSize && names[index] != name) ++index;
    }
    if (index == kSize) {
      if (!reader.skip(path)) return false;
      continue;
    }
    if (!read_field(index, path.field(names[index]))) return false;
    seen.set(index);
    likely = index + 1;
  }
  for (std::size_t index = 0; index < num_required; ++index) {
    if (seen[index]) continue;
    return reader.fail(Errc::kMissingField, path,
                       "missing required field " + std::string(names[index]));
  }
  return true;
}

}  // namespace kvc
