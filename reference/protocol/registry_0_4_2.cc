// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Release 0.4.2, the last one with a server of blend V1: the numbers of its enum, and the
// definitions of its five modules. REGISTER has four payloads, and a lookup is known by a number
// that LOOKUP answers.
#include "kvc/protocol/registry.h"

namespace kvc {
namespace {

std::vector<Definition> definitions() {
  using enum RequestType;
  using enum HandlerType;
  using T = WireType;
  return {
      {kRegisterKvCache, 1, "engine", {T::kInt, T::kKVCache, T::kStr, T::kInt}, T::kNone, kSync},
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
      {kLookup, 5, "engine", {T::kKey, T::kInt}, T::kInt, kBlocking},
      {kQueryPrefetchStatus, 6, "engine", {T::kInt}, T::kOptionalInt, kSync},
      {kFreeLookupLocks, 7, "engine", {T::kKey, T::kInt}, T::kNone, kBlocking},
      {kEndSession, 8, "engine", {T::kStr}, T::kNone, kBlocking},

      {kClear, 9, "controller", {}, T::kNone, kBlocking},
      {kGetChunkSize, 10, "controller", {}, T::kInt, kSync},
      {kPing, 11, "controller", {}, T::kBool, kBlocking},

      {kNoop, 12, "debug", {}, T::kStr, kSync},

      {kCbRegisterKvCache, 13, "blend", {T::kInt, T::kKVCache, T::kStr, T::kInt}, T::kNone, kSync},
      {kCbUnregisterKvCache, 14, "blend", {T::kInt}, T::kNone, kSync},
      {kCbStorePreComputed,
       15,
       "blend",
       {T::kKey, T::kInt, T::kInt, T::kBytes},
       T::kTransferResult,
       kBlocking},
      {kCbLookupPreComputed, 16, "blend", {T::kKey}, T::kRanges, kBlocking},
      {kCbRetrievePreComputed,
       17,
       "blend",
       {T::kKey, T::kRanges, T::kInt, T::kInt, T::kBytes},
       T::kTransferResult,
       kBlocking},
      {kCbStoreFinal,
       18,
       "blend",
       {T::kKey, T::kInt, T::kInt, T::kBytes},
       T::kTransferResult,
       kBlocking},

      {kCbLookupPreComputedV2, 19, "blend_v2", {T::kKey}, T::kCBMatchResults, kBlocking},
      {kCbRetrievePreComputedV2,
       20,
       "blend_v2",
       {T::kKey, T::kCBMatchResults, T::kInt, T::kInt, T::kBytes},
       T::kTransferResult,
       kBlocking},
  };
}

}  // namespace

const Registry& registry_0_4_2() {
  static const Registry* const registry = new Registry("0.4.2", definitions());
  return *registry;
}

}  // namespace kvc
