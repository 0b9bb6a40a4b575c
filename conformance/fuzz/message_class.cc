// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/fuzz/message_class.h"

#include "kvc/protocol/envelope.h"

namespace kvc::conformance {

std::string_view to_string(MessageKind kind) {
  switch (kind) {
    case MessageKind::kTooFewFrames:
      return "too-few-frames";
    case MessageKind::kUnknownType:
      return "unknown-type";
    case MessageKind::kOtherType:
      return "other-type";
    case MessageKind::kNoType:
      return "no-type";
    case MessageKind::kWrongCount:
      return "wrong-count";
    case MessageKind::kBadPayload:
      return "bad-payload";
    case MessageKind::kLegal:
      return "legal";
  }
  return "?";
}

MessageClass classify(const Registry& registry, const Frames& frames) {
  MessageClass out;
  if (frames.size() < 2) {
    out.why = "no type frame";
    return out;
  }
  const Result<const Definition*> type = decode_type_frame(registry, frames[1]);
  if (!type) {
    const bool is_number = decode<Int>(frames[1]).ok();
    const bool is_other = type.error().code == Errc::kWrongKind;
    out.kind = is_number  ? MessageKind::kUnknownType
               : is_other ? MessageKind::kOtherType
                          : MessageKind::kNoType;
    out.why = type.error().text();
    return out;
  }
  out.definition = *type;
  const std::vector<ByteView> rest(frames.begin() + 2, frames.end());
  if (rest.size() != out.definition->payloads.size()) {
    out.kind = MessageKind::kWrongCount;
    out.why = "another number of payloads";
    return out;
  }
  Result<std::vector<Value>> payloads = decode_payloads(*out.definition, rest);
  if (!payloads) {
    out.kind = MessageKind::kBadPayload;
    out.why = payloads.error().text();
    return out;
  }
  out.kind = MessageKind::kLegal;
  out.payloads = *std::move(payloads);
  return out;
}

}  // namespace kvc::conformance
