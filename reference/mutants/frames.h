// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What flaws of the envelope and of the types have in common: frames looked at and replaced.
#pragma once

#include <optional>

#include "kvc/protocol/envelope.h"
#include "kvc/protocol/registry.h"
#include "server/frame.h"

namespace kvc::mutants {

inline constexpr std::size_t kIdentityFrame = 0;
inline constexpr std::size_t kUidFrame = 1;
inline constexpr std::size_t kTypeFrame = 2;
inline constexpr std::size_t kFirstPayloadFrame = 3;

// The row of the message's type, or null.
inline const Definition* definition_of(const server::Message& message) {
  if (message.size() <= kTypeFrame) return nullptr;
  const auto definition = decode_type_frame(registry_0_4_5(), message[kTypeFrame].view());
  return definition ? *definition : nullptr;
}

inline bool is_type(const server::Frame& type, RequestType wanted) {
  const auto definition = decode_type_frame(registry_0_4_5(), type.view());
  return definition && (*definition)->type == wanted;
}

inline server::Frame frame_of_number(int number) {
  return server::Frame(Bytes{static_cast<std::uint8_t>(number)});
}

// A frame that holds one integer, in any encoding.
inline std::optional<Int> int_in(const server::Frame& frame) {
  const Result<Int> value = decode<Int>(frame.view());
  if (!value) return std::nullopt;
  return *value;
}

inline bool same_bytes(ByteView a, ByteView b) { return as_text(a) == as_text(b); }

}  // namespace kvc::mutants
