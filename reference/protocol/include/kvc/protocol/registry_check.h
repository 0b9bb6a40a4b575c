// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// initialize_protocols: the consistency checks by which a release's modules and its enum are put
// together (seed: protocols/__init__.py). Modules are data here, names are strings: the point is to
// judge tables that may be wrong. Each way to be wrong has its own error, with the real message.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kvc/protocol/registry.h"

namespace kvc {

struct ProtocolDefinitionData {
  std::vector<std::string> payload_classes;  // the seed's spellings, see to_string(WireType)
  std::string response_class;                // "None" for no result
  std::string handler_type;                  // "SYNC", "BLOCKING", "NON_BLOCKING"
};

struct ProtocolModuleData {
  std::string name;                                                         // "engine"
  std::vector<std::string> request_names;                                   // REQUEST_NAMES
  std::vector<std::pair<std::string, ProtocolDefinitionData>> definitions;  // in order
};

enum class RegistryFault {
  kDuplicateDefinition,    // a name claimed by two groups
  kNameWithoutDefinition,  // in REQUEST_NAMES, not among the definitions
  kDefinitionWithoutEnumMember,
  kEnumMemberWithoutDefinition,
  kDefinitionWithoutName,  // among the definitions, not in REQUEST_NAMES (the real check says it as
                           // an enum member without a definition; ours says what is the matter)
  kUnknownPayloadClass,
  kUnknownResponseClass,
  kUnknownHandlerType,
  kDuplicateEnumMember,  // two members with one name or one number
};

const char* to_string(RegistryFault fault);  // "duplicate_definition"

struct RegistryError {
  RegistryFault fault;
  std::string name;     // the request name at fault
  std::string module;   // the module at fault, if one is
  std::string message;  // where the real check says something: its words
};

struct EnumMember {
  std::string name;
  int number;
};

// Puts modules and enum together. Answers the first fault in the order of the real function:
// module by module (duplicates, names without definition, definitions without enum member), then
// the enum's members, then what only we check (definitions without name, wrong kinds).
std::optional<RegistryError> check_protocols(const std::vector<EnumMember>& enum_members,
                                             const std::vector<ProtocolModuleData>& modules);

// A registry as such data, one module a group in the seed's order.
std::vector<EnumMember> enum_members(const Registry& registry);
std::vector<ProtocolModuleData> protocol_modules(const Registry& registry);

}  // namespace kvc
