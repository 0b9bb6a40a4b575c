// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/registry_check.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "kvc/protocol/assert.h"
#include "kvc/protocol/wire_type.h"

namespace kvc {
namespace {

std::string quoted(const std::string& name) { return "'" + name + "'"; }

bool has_definition(const ProtocolModuleData& module, const std::string& name) {
  return std::ranges::any_of(module.definitions,
                             [&](const auto& definition) { return definition.first == name; });
}

class Checker {
 public:
  explicit Checker(const std::vector<EnumMember>& enum_members) : enum_members_(enum_members) {
    for (const EnumMember& member : enum_members) enum_names_.insert(member.name);
  }

  // One module, as the loop of the real function takes it.
  std::optional<RegistryError> add(const ProtocolModuleData& module) {
    for (const auto& [name, definition] : module.definitions) {
      const auto [claimed, is_new] = module_of_.emplace(name, module.name);
      if (is_new) continue;
      return RegistryError{RegistryFault::kDuplicateDefinition, name, module.name,
                           "Duplicate protocol definition " + quoted(name) + " found in modules " +
                               quoted(claimed->second) + " and " + quoted(module.name)};
    }
    for (const std::string& name : module.request_names) {
      if (has_definition(module, name)) {
        listed_names_.insert(name);
        continue;
      }
      return RegistryError{RegistryFault::kNameWithoutDefinition, name, module.name,
                           "Request name " + quoted(name) + " in module " + quoted(module.name) +
                               " is listed in REQUEST_NAMES but has no protocol definition"};
    }
    for (const auto& [name, definition] : module.definitions) {
      if (enum_names_.contains(name)) continue;
      return RegistryError{RegistryFault::kDefinitionWithoutEnumMember, name, module.name,
                           "Protocol definition " + quoted(name) + " in module " +
                               quoted(module.name) +
                               " has no corresponding RequestType enum member. "
                               "Add 'RequestType." +
                               name + "' to protocols/base.py"};
    }
    return std::nullopt;
  }

  // A definition that REQUEST_NAMES forgot leaves its enum member undefined in the real check; that
  // case is check_listed's, which can name the module.
  std::optional<RegistryError> check_enum() const {
    std::string missing;
    std::string first;
    for (const EnumMember& member : enum_members_) {
      if (listed_names_.contains(member.name) || module_of_.contains(member.name)) continue;
      if (first.empty()) first = member.name;
      missing += (missing.empty() ? "" : ", ") + quoted(member.name);
    }
    if (missing.empty()) return std::nullopt;
    return RegistryError{RegistryFault::kEnumMemberWithoutDefinition,
                         first,
                         {},
                         "RequestType enum members {" + missing +
                             "} have no protocol definitions. Add definitions to the appropriate "
                             "protocol module or remove from the enum."};
  }

  std::optional<RegistryError> check_enum_unique() const {
    std::set<std::string> names;
    std::map<int, std::string> numbers;
    for (const EnumMember& member : enum_members_) {
      if (!names.insert(member.name).second) {
        return RegistryError{RegistryFault::kDuplicateEnumMember,
                             member.name,
                             {},
                             "Two members of RequestType are named " + quoted(member.name)};
      }
      const auto [holder, is_new] = numbers.emplace(member.number, member.name);
      if (!is_new) {
        return RegistryError{RegistryFault::kDuplicateEnumMember,
                             member.name,
                             {},
                             "RequestType members " + quoted(holder->second) + " and " +
                                 quoted(member.name) + " have one number, " +
                                 std::to_string(member.number)};
      }
    }
    return std::nullopt;
  }

  std::optional<RegistryError> check_listed(const ProtocolModuleData& module) const {
    for (const auto& [name, definition] : module.definitions) {
      if (listed_names_.contains(name)) continue;
      return RegistryError{RegistryFault::kDefinitionWithoutName, name, module.name,
                           "Protocol definition " + quoted(name) + " in module " +
                               quoted(module.name) + " is not listed in REQUEST_NAMES"};
    }
    return std::nullopt;
  }

 private:
  const std::vector<EnumMember>& enum_members_;
  std::set<std::string> enum_names_;
  std::set<std::string> listed_names_;
  std::map<std::string, std::string> module_of_;  // by request name
};

std::optional<RegistryError> check_kinds(const ProtocolModuleData& module) {
  const auto wrong = [&](RegistryFault fault, const std::string& name, const char* what,
                         const std::string& kind) {
    return RegistryError{fault, name, module.name,
                         "Protocol definition " + quoted(name) + " in module " +
                             quoted(module.name) + " has an unknown " + what + ": " + kind};
  };
  for (const auto& [name, definition] : module.definitions) {
    for (const std::string& payload : definition.payload_classes) {
      if (parse_wire_type(payload).has_value()) continue;
      return wrong(RegistryFault::kUnknownPayloadClass, name, "payload class", payload);
    }
    if (!parse_wire_type(definition.response_class).has_value()) {
      return wrong(RegistryFault::kUnknownResponseClass, name, "response class",
                   definition.response_class);
    }
    if (!parse_handler_type(definition.handler_type).has_value()) {
      return wrong(RegistryFault::kUnknownHandlerType, name, "handler type",
                   definition.handler_type);
    }
  }
  return std::nullopt;
}

// The order in which the real package loads its modules.
constexpr std::array<std::string_view, 6> kModuleOrder = {"engine", "controller", "debug",
                                                          "blend",  "blend_v2",   "observability"};

std::size_t load_order(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(kModuleOrder, name) - kModuleOrder.begin());
}

}  // namespace

const char* to_string(RegistryFault fault) {
  switch (fault) {
    case RegistryFault::kDuplicateDefinition:
      return "duplicate_definition";
    case RegistryFault::kNameWithoutDefinition:
      return "name_without_definition";
    case RegistryFault::kDefinitionWithoutEnumMember:
      return "definition_without_enum_member";
    case RegistryFault::kEnumMemberWithoutDefinition:
      return "enum_member_without_definition";
    case RegistryFault::kDefinitionWithoutName:
      return "definition_without_name";
    case RegistryFault::kUnknownPayloadClass:
      return "unknown_payload_class";
    case RegistryFault::kUnknownResponseClass:
      return "unknown_response_class";
    case RegistryFault::kUnknownHandlerType:
      return "unknown_handler_type";
    case RegistryFault::kDuplicateEnumMember:
      return "duplicate_enum_member";
  }
  KVC_ASSERT(false);
}

std::optional<RegistryError> check_protocols(const std::vector<EnumMember>& enum_members,
                                             const std::vector<ProtocolModuleData>& modules) {
  Checker checker(enum_members);
  for (const ProtocolModuleData& module : modules) {
    if (auto error = checker.add(module)) return error;
  }
  if (auto error = checker.check_enum()) return error;
  if (auto error = checker.check_enum_unique()) return error;
  for (const ProtocolModuleData& module : modules) {
    if (auto error = checker.check_listed(module)) return error;
    if (auto error = check_kinds(module)) return error;
  }
  return std::nullopt;
}

std::vector<EnumMember> enum_members(const Registry& registry) {
  std::vector<EnumMember> members;
  for (const Definition& definition : registry.definitions()) {
    members.push_back({std::string(to_string(definition.type)), definition.number});
  }
  return members;
}

std::vector<ProtocolModuleData> protocol_modules(const Registry& registry) {
  std::vector<ProtocolModuleData> modules;
  for (const Definition& definition : registry.definitions()) {
    auto module = std::ranges::find(modules, definition.group, &ProtocolModuleData::name);
    if (module == modules.end()) {
      modules.push_back({std::string(definition.group), {}, {}});
      module = modules.end() - 1;
    }
    ProtocolDefinitionData data;
    for (const WireType payload : definition.payloads) {
      data.payload_classes.emplace_back(to_string(payload));
    }
    data.response_class = to_string(definition.result);
    data.handler_type = to_string(definition.handler);
    const std::string name(to_string(definition.type));
    module->request_names.push_back(name);
    module->definitions.emplace_back(name, std::move(data));
  }
  std::ranges::stable_sort(
      modules, {}, [](const ProtocolModuleData& module) { return load_order(module.name); });
  return modules;
}

}  // namespace kvc
