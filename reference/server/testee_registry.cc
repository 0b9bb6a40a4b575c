// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <optional>
#include <string>
#include <vector>

#include "kvc/protocol/registry_check.h"
#include "server/handler_table.h"
#include "server/testee.h"

namespace kvc::server {
namespace {

Json row_of(const Definition& definition) {
  Json payloads = Json::array();
  for (const WireType payload : definition.payloads)
    payloads.push_back(std::string(to_string(payload)));
  return {{"number", definition.number},
          {"name", std::string(to_string(definition.type))},
          {"group", std::string(definition.group)},
          {"payloads", std::move(payloads)},
          {"result", std::string(to_string(definition.result))},
          {"handler", std::string(to_string(definition.handler))}};
}

const Definition* find_row(const Json& type) {
  const Registry& registry = registry_0_4_5();
  if (type.is_number_unsigned()) return registry.find_number(type.get<std::uint64_t>());
  if (type.is_number_integer()) return registry.find_number(type.get<std::int64_t>());
  if (!type.is_string()) return nullptr;
  const auto name = parse_request_type(type.get<std::string>());
  return name ? registry.find(*name) : nullptr;
}

// Which difference of a refused handler comes first, in the order in which the table looks.
const char* refusal_kind(const Definition& row,
                         const std::vector<std::optional<WireType>>& payloads,
                         std::optional<WireType> result, HandlerType handler) {
  if (payloads.size() != row.payloads.size()) return "arity";
  for (std::size_t i = 0; i < payloads.size(); ++i)
    if (payloads[i] != row.payloads[i]) return "parameter_type";
  if (result != row.result) return "return_type";
  return handler == HandlerType::kNonBlocking ? "non_blocking" : "handler_type";
}

// Adds a handler that is never called; what the table says of it.
std::optional<Json> add_to(HandlerTable& table, const Definition& row, const Json& message) {
  const auto handler = parse_handler_type(message.at("handler").get<std::string>());
  if (!handler) return error_reply("handler_type", "no such handler type");
  std::vector<std::optional<WireType>> payloads;
  std::vector<WireType> known;
  for (const Json& name : message.at("payloads")) {
    payloads.push_back(parse_wire_type(name.get<std::string>()));
    if (payloads.back()) known.push_back(*payloads.back());
  }
  const auto result = parse_wire_type(message.at("result").get<std::string>());
  const char* kind = refusal_kind(row, payloads, result, *handler);
  if (known.size() != payloads.size() || !result) return error_reply(kind, "an unknown type");
  const Result<void> added = table.add_handler_of(row.type, *handler, known, *result, nullptr);
  if (!added) return error_reply(kind, added.error().message);
  return std::nullopt;
}

Json dump_rows(const Json&) {
  Json rows = Json::array();
  for (const Definition& definition : registry_0_4_5().definitions())
    rows.push_back(row_of(definition));
  return ok_reply(std::move(rows));
}

Json dump_modules(const Json&) {
  Json out = Json::array();
  for (const ProtocolModuleData& module : protocol_modules(registry_0_4_5())) {
    Json definitions = Json::array();
    for (const auto& [name, definition] : module.definitions) definitions.push_back(name);
    out.push_back({{"name", module.name},
                   {"request_names", module.request_names},
                   {"definitions", std::move(definitions)}});
  }
  return ok_reply(std::move(out));
}

Json describe(const Json& message) {
  const Definition* row = find_row(message.at("type"));
  return row != nullptr ? ok_reply(row_of(*row))
                        : error_reply("unknown_type", "no such request type");
}

Json initialize(const Json& message) {
  std::vector<EnumMember> members;
  for (const Json& member : message.at("enum"))
    members.push_back({member.at(0).get<std::string>(), member.at(1).get<int>()});
  std::vector<ProtocolModuleData> modules;
  std::size_t num_definitions = 0;
  for (const Json& module : message.at("modules")) {
    ProtocolModuleData& data = modules.emplace_back();
    data.name = module.at("name").get<std::string>();
    data.request_names = module.at("request_names").get<std::vector<std::string>>();
    for (const Json& definition : module.at("definitions")) {
      const Json& what = definition.at(1);
      data.definitions.emplace_back(
          definition.at(0).get<std::string>(),
          ProtocolDefinitionData{what.at("payloads").get<std::vector<std::string>>(),
                                 what.at("result").get<std::string>(),
                                 what.at("handler").get<std::string>()});
      ++num_definitions;
    }
  }
  const std::optional<RegistryError> error = check_protocols(members, modules);
  if (error) return error_reply(to_string(error->fault), error->message);
  return ok_reply(num_definitions);
}

Json add_handler(const Json& message) {
  const Definition* row = find_row(message.at("type"));
  if (row == nullptr) return error_reply("unknown_type", "no such request type");
  HandlerTable table(registry_0_4_5());
  const bool has_handler = !message.at("handler").is_null();
  if (has_handler)
    if (const std::optional<Json> refusal = add_to(table, *row, message)) return *refusal;
  const std::string pool = message.at("pool").get<std::string>();
  if (pool != "none") {
    const Result<void> assigned = pool == "affinity"
                                      ? table.add_affinity_thread_pool({row->type}, 1)
                                      : table.add_normal_thread_pool({row->type}, 1);
    if (!assigned)
      return error_reply(has_handler ? "pool_not_blocking" : "handler_missing",
                         assigned.error().message);
  }
  const Result<void> startable = table.check_pools();
  return startable ? ok_reply(nullptr) : error_reply("pool_missing", startable.error().message);
}

}  // namespace

void add_testee_registry(TesteeCommands& commands) {
  commands["registry"] = dump_rows;
  commands["modules"] = dump_modules;
  commands["describe"] = describe;
  commands["initialize"] = initialize;
  commands["add_handler"] = add_handler;
}

}  // namespace kvc::server
