// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What the files of Typing share: how a payload's position is named in an id, which requirement of
// the ledger speaks of a type, and the tables of documents. A server is asked with them in a
// request (cases/typing*.cc), a testee as they are (cases/testee/typing.cc), under the same ids.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cases/stage.h"
#include "kvc/protocol/registry.h"
#include "kvc/protocol/request_type.h"
#include "kvc/protocol/wire_type.h"

namespace kvc::conformance {

std::string position_name(RequestType type, std::size_t index);  // "STORE_payload2_gpu_block_ids"
std::string requirement_of(WireType wire);                       // "typing.int-list"

// What to do to one payload of one request type, so that it has to be refused.
struct Mutation {
  RequestType type;
  std::size_t index;
  WireType wire;
  std::string claim;  // "RefusesStr"
  std::string kind;   // in words: "of the kind Str"
  std::string requirement;
  std::function<std::vector<Bytes>(const Bytes& honest)> documents;

  std::string id() const;  // "Typing.STORE_payload2_gpu_block_ids_RefusesStr"
};
std::vector<Mutation> payload_mutations(const Registry& registry);

// The same for one field of a payload that is a map, or an array of maps.
struct FieldMutation {
  RequestType type;
  std::size_t index;
  WireType wire;
  Field field;                                  // its name and type alone
  std::string kind;                             // "Str", "Missing"
  std::vector<std::optional<Bytes>> documents;  // nothing: without the field

  std::string id() const;
};
std::vector<FieldMutation> field_mutations(const Registry& registry);

// The payload with `document` in place of one field's value; nothing: without that field.
Bytes composed(WireType wire, const std::vector<Field>& fields, const std::string& name,
               const std::optional<Bytes>& document);

// What has to be taken: values at the limits of a type, and the odd forms of a map.
std::vector<Bytes> limits(WireType wire);
std::vector<Bytes> odd_forms(WireType wire, const std::vector<Field>& fields);

}  // namespace kvc::conformance
