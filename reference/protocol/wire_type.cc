// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/wire_type.h"

#include "kvc/protocol/assert.h"

namespace kvc {
namespace {

// In the order of the enum.
constexpr std::array<std::string_view, kNumWireTypes> kNames = {
    "None",
    "int",
    "bool",
    "str",
    "bytes",
    "int | None",
    "IPCCacheEngineKey",
    "KVCache",
    "EngineType",
    "LayoutHints",
    "list[int]",
    "list[BlockAllocationRecord]",
    "tuple[bytes, bool]",
    "list[tuple[int, int]]",
    "list[CBMatchResult]",
};

}  // namespace

std::string_view to_string(WireType type) {
  const auto index = static_cast<std::size_t>(type);
  KVC_ASSERT(index < kNames.size());
  return kNames[index];
}

std::optional<WireType> parse_wire_type(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<WireType>(i);
  }
  return std::nullopt;
}

}  // namespace kvc
