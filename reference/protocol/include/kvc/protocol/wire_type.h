// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// WireType: the closed list of types that payloads and results have, and their names as the seed
// writes them. wire_type_of<T>() ties each to its C++ type, so a handler's signature can be checked
// against the registry, as the real server inspects its handlers.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "kvc/protocol/values.h"

namespace kvc {

enum class WireType {
  kNone,
  kInt,
  kBool,
  kStr,
  kBytes,
  kOptionalInt,
  kKey,
  kKVCache,
  kEngineType,
  kLayoutHints,
  kIntList,
  kBlockAllocationRecords,
  kTransferResult,
  kRanges,
  kCBMatchResults,
};
inline constexpr int kNumWireTypes = 15;

// The seed's spelling: "int", "int | None", "IPCCacheEngineKey", "list[int]", "tuple[bytes, bool]",
// "list[tuple[int, int]]", "list[CBMatchResult]", "KVCache", …
std::string_view to_string(WireType type);
std::optional<WireType> parse_wire_type(std::string_view name);

template <class T>
struct WireTypeOf;
template <>
struct WireTypeOf<None> {
  static constexpr WireType value = WireType::kNone;
};
template <>
struct WireTypeOf<Int> {
  static constexpr WireType value = WireType::kInt;
};
template <>
struct WireTypeOf<bool> {
  static constexpr WireType value = WireType::kBool;
};
template <>
struct WireTypeOf<std::string> {
  static constexpr WireType value = WireType::kStr;
};
template <>
struct WireTypeOf<Bytes> {
  static constexpr WireType value = WireType::kBytes;
};
template <>
struct WireTypeOf<OptionalInt> {
  static constexpr WireType value = WireType::kOptionalInt;
};
template <>
struct WireTypeOf<Key> {
  static constexpr WireType value = WireType::kKey;
};
template <>
struct WireTypeOf<KVCache> {
  static constexpr WireType value = WireType::kKVCache;
};
template <>
struct WireTypeOf<EngineType> {
  static constexpr WireType value = WireType::kEngineType;
};
template <>
struct WireTypeOf<LayoutHints> {
  static constexpr WireType value = WireType::kLayoutHints;
};
template <>
struct WireTypeOf<IntArray> {
  static constexpr WireType value = WireType::kIntList;
};
template <>
struct WireTypeOf<BlockAllocationRecords> {
  static constexpr WireType value = WireType::kBlockAllocationRecords;
};
template <>
struct WireTypeOf<TransferResult> {
  static constexpr WireType value = WireType::kTransferResult;
};
template <>
struct WireTypeOf<Ranges> {
  static constexpr WireType value = WireType::kRanges;
};
template <>
struct WireTypeOf<CBMatchResults> {
  static constexpr WireType value = WireType::kCBMatchResults;
};

template <class T>
inline constexpr WireType wire_type_of = WireTypeOf<T>::value;

}  // namespace kvc
