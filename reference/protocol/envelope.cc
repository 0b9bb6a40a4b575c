// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/envelope.h"

#include "kvc/protocol/assert.h"
#include "kvc/protocol/codec.h"

namespace kvc {

Result<const Definition*> decode_type_frame(const Registry& registry, ByteView frame) {
  const Result<Int> number = decode<Int>(frame);
  if (!number.ok()) return number.error();
  const Definition* definition = registry.find_number(*number);
  if (definition == nullptr) {
    return Error{Errc::kUnknownType, "$",
                 "no request type " + number->to_string() + " in release " +
                     std::string(registry.release())};
  }
  return definition;
}

Bytes encode_type_frame(const Registry& registry, RequestType type) {
  const Definition* definition = registry.find(type);
  KVC_ASSERT(definition != nullptr);
  return encoded(Int(definition->number));
}

Result<std::vector<Value>> decode_payloads(const Definition& definition,
                                           std::span<const ByteView> payloads) {
  if (payloads.size() != definition.payloads.size()) {
    return Error{Errc::kWrongLength,
                 {},
                 std::string(to_string(definition.type)) + " has " +
                     std::to_string(definition.payloads.size()) + " payloads, got " +
                     std::to_string(payloads.size())};
  }
  std::vector<Value> values;
  values.reserve(payloads.size());
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    Result<Value> value = decode_value(definition.payloads[i], payloads[i]);
    if (!value.ok()) {
      Error error = value.error();
      error.message = "payload " + std::to_string(i) + ": " + error.message;
      return error;
    }
    values.push_back(std::move(value).value());
  }
  return values;
}

Result<Value> decode_result(const Definition& definition, std::span<const ByteView> result_frames) {
  if (result_frames.size() > 1) {
    return Error{
        Errc::kWrongLength,
        {},
        "a response has at most one result frame, got " + std::to_string(result_frames.size())};
  }
  const bool is_optional = definition.result == WireType::kOptionalInt;
  if (result_frames.empty()) {
    if (definition.result == WireType::kNone) return Value(None{});
    if (is_optional) return Value(OptionalInt{});
    return Error{Errc::kWrongLength,
                 {},
                 "expected a result of type " + std::string(to_string(definition.result)) +
                     ", got no result frame"};
  }
  return decode_value(definition.result, result_frames.front());
}

}  // namespace kvc
