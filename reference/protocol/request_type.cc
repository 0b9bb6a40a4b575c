// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/request_type.h"

#include "kvc/protocol/assert.h"

namespace kvc {
namespace {

// In the order of the enum.
constexpr std::array<std::string_view, kNumRequestTypes> kNames = {
    "REGISTER_KV_CACHE",
    "UNREGISTER_KV_CACHE",
    "STORE",
    "RETRIEVE",
    "LOOKUP",
    "QUERY_PREFETCH_STATUS",
    "QUERY_PREFETCH_LOOKUP_HITS",
    "FREE_LOOKUP_LOCKS",
    "END_SESSION",
    "CLEAR",
    "GET_CHUNK_SIZE",
    "PING",
    "REPORT_BLOCK_ALLOCATION",
    "NOOP",
    "CB_REGISTER_KV_CACHE",
    "CB_UNREGISTER_KV_CACHE",
    "CB_STORE_PRE_COMPUTED",
    "CB_LOOKUP_PRE_COMPUTED",
    "CB_RETRIEVE_PRE_COMPUTED",
    "CB_STORE_FINAL",
    "CB_LOOKUP_PRE_COMPUTED_V2",
    "CB_RETRIEVE_PRE_COMPUTED_V2",
};

constexpr std::array<std::string_view, 3> kHandlerNames = {"SYNC", "BLOCKING", "NON_BLOCKING"};

template <class Enum, std::size_t kSize>
std::optional<Enum> find_name(const std::array<std::string_view, kSize>& names,
                              std::string_view name) {
  for (std::size_t i = 0; i < kSize; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(RequestType type) {
  const auto index = static_cast<std::size_t>(type);
  KVC_ASSERT(index < kNames.size());
  return kNames[index];
}

std::optional<RequestType> parse_request_type(std::string_view name) {
  return find_name<RequestType>(kNames, name);
}

std::string_view to_string(HandlerType type) {
  const auto index = static_cast<std::size_t>(type);
  KVC_ASSERT(index < kHandlerNames.size());
  return kHandlerNames[index];
}

std::optional<HandlerType> parse_handler_type(std::string_view name) {
  return find_name<HandlerType>(kHandlerNames, name);
}

}  // namespace kvc
