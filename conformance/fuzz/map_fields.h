// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Map fields: a payload that is a map, or an array of maps, taken apart into its fields and put
// together again, so that one field can be changed, moved, repeated or left out. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "conformance/harness/byte_builder.h"
#include "kvc/protocol/wire_type.h"

namespace kvc::conformance {

using FieldList = std::vector<msg::Pair>;

struct MapFields {
  std::vector<FieldList> maps;
  bool in_array = false;
};

// Nothing where the type has no maps, or the payload does not decode.
std::optional<MapFields> map_fields(WireType type, ByteView payload);
Bytes compose(const MapFields& fields);

// Another legal value of the field: what comes first when a field is there twice.
Bytes other_value_of(std::string_view name);

}  // namespace kvc::conformance
