// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What a message is to a server of the protocol, by the registry and the codec alone: no request at
// all, one whose payloads do not decode, or a legal one (which may still ask for what cannot be
// done). Everything but a legal one must be met with silence. Values see the frames. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/harness/trace.h"
#include "kvc/protocol/codec.h"
#include "kvc/protocol/registry.h"

namespace kvc::conformance {

enum class MessageKind {
  kTooFewFrames,  // no type frame
  kUnknownType,   // a number that is nobody's
  kOtherType,     // a type frame of another kind: a str, a float, nil
  kNoType,        // a type frame that is no document, or more than one
  kWrongCount,    // of payloads
  kBadPayload,    // one does not decode
  kLegal,
};
std::string_view to_string(MessageKind kind);  // "too-few-frames", "unknown-type", …

struct MessageClass {
  MessageKind kind = MessageKind::kTooFewFrames;
  const Definition* definition = nullptr;  // from kWrongCount on
  std::vector<Value> payloads;             // of a legal one
  std::string why;                         // it is not legal

  bool legal() const { return kind == MessageKind::kLegal; }
};

MessageClass classify(const Registry& registry, const Frames& frames);

}  // namespace kvc::conformance
