// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Registry: what one release of the protocol says about each request type: its number on the wire,
// its group, its payload types, its result type and how its handler runs. A registry is data: a
// second release is a second table in registry_<release>.cc. Immutable; any thread may read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvc/protocol/request_type.h"
#include "kvc/protocol/result.h"
#include "kvc/protocol/wire_type.h"

namespace kvc {

// One row (seed: ProtocolDefinition, with the enum's number and the module it stands in).
struct Definition {
  RequestType type;
  int number;              // on the wire; from 1, in the order of the release's enum
  std::string_view group;  // "engine", "controller", "debug", "observability", "blend", "blend_v2"
  std::vector<WireType> payloads;
  WireType result;
  HandlerType handler;
};

class Registry {
 public:
  Registry(std::string_view release, std::vector<Definition> definitions);

  std::string_view release() const { return release_; }
  std::span<const Definition> definitions() const { return definitions_; }

  // Null where the release has no such type or number.
  const Definition* find(RequestType type) const;
  const Definition* find_number(Int number) const;

  // The seed's queries. An unknown type is kUnknownType, "Invalid request type: NAME".
  Result<std::span<const WireType>> get_payload_classes(RequestType type) const;
  Result<WireType> get_response_class(RequestType type) const;
  Result<HandlerType> get_handler_type(RequestType type) const;

 private:
  std::string release_;
  std::vector<Definition> definitions_;
};

// Release 0.4.5, 22 types, and 0.4.2, 20 types. Made once, never destroyed before exit.
const Registry& registry_0_4_5();
const Registry& registry_0_4_2();

// The registry of a release by its name ("0.4.5"), or null.
const Registry* find_registry(std::string_view release);
std::vector<std::string_view> known_releases();

}  // namespace kvc
