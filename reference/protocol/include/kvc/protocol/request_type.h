// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// RequestType: the operations by name. Their NUMBERS are not here: they shift from release to
// release and live in a Registry (registry.h).
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace kvc {

enum class RequestType {
  kRegisterKvCache,
  kUnregisterKvCache,
  kStore,
  kRetrieve,
  kLookup,
  kQueryPrefetchStatus,
  kQueryPrefetchLookupHits,
  kFreeLookupLocks,
  kEndSession,
  kClear,
  kGetChunkSize,
  kPing,
  kReportBlockAllocation,
  kNoop,
  kCbRegisterKvCache,
  kCbUnregisterKvCache,
  kCbStorePreComputed,
  kCbLookupPreComputed,
  kCbRetrievePreComputed,
  kCbStoreFinal,
  kCbLookupPreComputedV2,
  kCbRetrievePreComputedV2,
};
inline constexpr int kNumRequestTypes = 22;

// "STORE", "CB_LOOKUP_PRE_COMPUTED_V2": the names of the seed's enum.
std::string_view to_string(RequestType type);
std::optional<RequestType> parse_request_type(std::string_view name);

// How a handler runs (seed: protocols/base.py, HandlerType). kNonBlocking exists only to be
// refused.
enum class HandlerType { kSync, kBlocking, kNonBlocking };
std::string_view to_string(HandlerType type);  // "SYNC", "BLOCKING", "NON_BLOCKING"
std::optional<HandlerType> parse_handler_type(std::string_view name);

}  // namespace kvc
