// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Release 0.4.5: the numbers of its enum, and the definitions of its six modules.
#include "kvc/protocol/registry.h"

namespace kvc {
namespace {

std::vector<Definition> definitions() {
  using enum RequestType;
  using enum HandlerType;
  using T = WireType;
  return {
      {kRegisterKvCache,
       1,
       "engine",
       {T::kInt, T::kKVCache, T::kStr, T::kInt, T::kEngineType, T::kLayoutHints},
       T::kNone,
       kSync},
      {kUnregisterKvCache, 2, "engine", {T::kInt}, T::kNone, kSync},
      {kStore,
       3,
       "engine",
       {T::kKey, T::kInt, T::kIntList, T::kBytes},
       T::kTransferResult,
       kBlocking},
      {kRetrieve,
       4,
       "engine",
       {T::kKey, T::kInt, T::kIntList, T::kBytes, T::kInt},
       T::kTransferResult,
       kBlocking},
      {kLookup, 5, "engine", {T::kKey, T::kInt}, T::kNone, kBlocking},
      {kQueryPrefetchStatus, 6, "engine", {T::kStr}, T::kOptionalInt, kBlocking},
      {kQueryPrefetchLookupHits, 7, "engine", {T::kStr}, T::kOptionalInt, kBlocking},
      {kFreeLookupLocks, 8, "engine", {T::kKey, T::kInt}, T::kNone, kBlocking},
      {kEndSession, 9, "engine", {T::kStr}, T::kNone, kBlocking},

      {kClear, 10, "controller", {}, T::kNone, kBlocking},
      {kGetChunkSize, 11, "controller", {}, T::kInt, kSync},
      {kPing, 12, "controller", {}, T::kBool, kBlocking},

      {kReportBlockAllocation,
       13,
       "observability",
       {T::kInt, T::kStr, T::kBlockAllocationRecords},
       T::kNone,
       kBlocking},

      {kNoop, 14, "debug", {}, T::kStr, kSync},

      {kCbRegisterKvCache, 15, "blend", {T::kInt, T::kKVCache, T::kStr, T::kInt}, T::kNone, kSync},
      {kCbUnregisterKvCache, 16, "blend", {T::kInt}, T::kNone, kSync},
      {kCbStorePreComputed,
       17,
       "blend",
       {T::kKey, T::kInt, T::kInt, T::kBytes},
       T::kTransferResult,
       kBlocking},
      {kCbLookupPreComputed, 18, "blend", {T::kKey}, T::kRanges, kBlocking},
      {kCbRetrievePreComputed,
       19,
       "blend",
       {T::kKey, T::kRanges, T::kInt, T::kInt, T::kBytes},
       T::kTransferResult,
       kBlocking},
      {kCbStoreFinal,
       20,
       "blend",
       {T::kKey, T::kInt, T::kInt, T::kBytes},
       T::kTransferResult,
       kBlocking},

      {kCbLookupPreComputedV2, 21, "blend_v2", {T::kKey}, T::kCBMatchResults, kBlocking},
      {kCbRetrievePreComputedV2,
       22,
       "blend_v2",
       {T::kKey, T::kCBMatchResults, T::kInt, T::kInt, T::kBytes},
       T::kTransferResult,
       kBlocking},
  };
}

}  // namespace

const Registry& registry_0_4_5() {
  static const Registry* const registry = new Registry("0.4.5", definitions());
  return *registry;
}

}  // namespace kvc
