// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Registry through the pipe: the candidate's own table against the release's, row by row, and
// against itself: the rules by which the real package puts its table together.
#include <fmt/format.h>

#include <map>
#include <set>

#include "conformance/cases/testee/differences.h"
#include "conformance/cases/testee/testee_cases.h"
#include "conformance/harness/byte_builder.h"
#include "kvc/protocol/registry_check.h"

namespace kvc::conformance {
namespace {

constexpr const char* kFile = "registry.json";

// What `registry` or `modules` answers: a list, or the end of the case.
Json dump(Case& test, const char* command) {
  const TesteeReply reply = test.testee().ask(command);
  if (reply.kind == TesteeReply::Kind::kUnimplemented)
    throw Finding{Verdict::kSkipped, fmt::format("the testee implements {}", command), reply.text(),
                  ""};
  test.expect(reply.ok() && reply.value.is_array(), fmt::format("a list from {}", command),
              reply.text());
  return reply.value;
}

std::string text_at(const Json& map, const char* key) {
  return map.is_object() && map.contains(key) && map[key].is_string() ? map[key].get<std::string>()
                                                                      : std::string();
}

std::optional<int> number_at(const Json& map) {
  if (!map.is_object() || !map.contains("number") || !map["number"].is_number_integer())
    return std::nullopt;
  const auto number = map["number"].get<std::int64_t>();
  if (number != static_cast<int>(number)) return std::nullopt;
  return static_cast<int>(number);
}

void judge_row(Case& test, GoldenData& golden, const std::string& name) {
  Differences differences(test);
  for (const GoldenLine& line : golden.list(kFile, "definitions")) {
    if (line.text("name") != name) continue;
    TesteeReply found;
    found.kind = TesteeReply::Kind::kError;
    found.error = "no row of this name in the dump";
    for (const Json& row : dump(test, "registry"))
      if (text_at(row, "name") == name) found = {TesteeReply::Kind::kOk, row, "", "", ""};
    differences.expect_value(line.place + " (registry)", line.json, found);
    for (const Json& type : {Json(name), line.at("number")}) {
      const TesteeReply reply = test.testee().ask("describe", {{"type", type}});
      if (reply.kind == TesteeReply::Kind::kUnimplemented) continue;  // has a case of its own
      differences.expect_value(fmt::format("{} (describe {})", line.place, type.dump()), line.json,
                               reply);
    }
    return differences.finish();
  }
  throw GoldenError(fmt::format("registry.json has no definition of {}", name));
}

// The number of the type frame, in each width that holds it, and whose it is.
void judge_number(Case& test, GoldenData& golden, const std::string& name) {
  Differences differences(test);
  for (const GoldenLine& line : golden.list(kFile, "definitions")) {
    if (line.text("name") != name) continue;
    for (const Bytes& frame : msg::every_width(line.at("number").get<std::uint64_t>())) {
      const TesteeReply reply = test.testee().ask("decode_type", {{"bytes", pipe_bytes(frame)}});
      differences.expect_implemented(reply, "decode_type");
      differences.expect_value(fmt::format("{} (type frame {})", line.place, to_hex(frame)),
                               line.at("number"), reply);
    }
    const TesteeReply row = test.testee().ask("describe", {{"type", line.at("number")}});
    if (row.kind == TesteeReply::Kind::kUnimplemented) continue;
    differences.checked();
    const std::string actual = row.ok() ? text_at(row.value, "name") : row.text();
    if (actual != name)
      differences.add(fmt::format("{} (number {})", line.place, line.at("number").dump()), name,
                      actual);
  }
  differences.finish();
}

void has_no_other_rows(Case& test, GoldenData& golden) {
  std::set<std::string> known;
  for (const GoldenLine& line : golden.list(kFile, "definitions")) known.insert(line.text("name"));
  Differences differences(test);
  for (const Json& row : dump(test, "registry")) {
    differences.checked();
    if (!known.contains(text_at(row, "name")))
      differences.add("registry", "only rows of " + golden.header(kFile).text("release"),
                      text_of(row));
  }
  differences.finish();
}

void describe_refuses(Case& test) {
  Differences differences(test);
  const std::int64_t last = static_cast<std::int64_t>(test.registry().definitions().size());
  for (const Json& type :
       {Json("GHOST"), Json(""), Json("store"), Json("STORE "), Json("RequestType.STORE"), Json(0),
        Json(-1), Json(last + 1), Json(259), Json(4294967299), Json(UINT64_MAX)}) {
    const TesteeReply reply = test.testee().ask("describe", {{"type", type}});
    differences.expect_implemented(reply, "describe");
    differences.expect_error("describe " + type.dump(), {"unknown_type"}, "no such type", reply);
  }
  differences.finish();
}

void positions_are_refused(Case& test) {
  Differences differences(test);
  for (const Definition& row : test.registry().definitions()) {
    const TesteeReply reply =
        test.testee().ask("decode", {{"type", std::string(to_string(row.type))},
                                     {"position", row.payloads.size()},
                                     {"bytes", pipe_bytes(msg::integer(1))}});
    differences.expect_implemented(reply, "decode");
    differences.expect_error(
        fmt::format("{} position {}", to_string(row.type), row.payloads.size()),
        {"unknown_position"}, fmt::format("it has {} payloads", row.payloads.size()), reply);
  }
  differences.finish();
}

void unique(Case& test) {
  std::map<std::string, int> names;
  std::map<int, std::string> numbers;
  Differences differences(test);
  for (const Json& row : dump(test, "registry")) {
    const std::string name = text_at(row, "name");
    const std::optional<int> number = number_at(row);
    differences.checked();
    if (name.empty() || !number) {
      differences.add("registry", "a name and a number in each row", text_of(row));
      continue;
    }
    if (!names.emplace(name, *number).second)
      differences.add("registry", fmt::format("one row named {}", name), "two");
    const auto [holder, is_new] = numbers.emplace(*number, name);
    if (!is_new)
      differences.add("registry", fmt::format("one row of number {}", *number),
                      fmt::format("{} and {}", holder->second, name));
  }
  differences.finish();
}

void no_non_blocking(Case& test) {
  Differences differences(test);
  for (const Json& row : dump(test, "registry")) {
    differences.checked();
    const std::string handler = text_at(row, "handler");
    if (handler != "SYNC" && handler != "BLOCKING")
      differences.add("registry " + text_at(row, "name"), "handler SYNC or BLOCKING", handler);
  }
  differences.finish();
}

// Rows and lists as the real package holds them, and its rules over them.
void passes_initialize(Case& test) {
  std::vector<EnumMember> members;
  std::vector<ProtocolModuleData> modules;
  const auto module_named = [&](const std::string& name) -> ProtocolModuleData& {
    for (ProtocolModuleData& module : modules)
      if (module.name == name) return module;
    return modules.emplace_back(ProtocolModuleData{name, {}, {}});
  };
  for (const Json& row : dump(test, "registry")) {
    const std::string name = text_at(row, "name");
    members.push_back({name, number_at(row).value_or(0)});
    ProtocolDefinitionData data;
    if (row.is_object() && row.contains("payloads") && row["payloads"].is_array())
      for (const Json& payload : row["payloads"])
        data.payload_classes.push_back(payload.is_string() ? payload.get<std::string>() : "?");
    data.response_class = text_at(row, "result");
    data.handler_type = text_at(row, "handler");
    ProtocolModuleData& module = module_named(text_at(row, "group"));
    module.request_names.push_back(name);
    module.definitions.emplace_back(name, std::move(data));
  }
  test.checked();
  const std::optional<RegistryError> error = check_protocols(members, modules);
  test.expect(!error, "a table that the real initialize_protocols() takes",
              error ? error->message : "");
}

void lists_match(Case& test, GoldenData& golden) {
  const Json own = dump(test, "modules");
  Differences differences(test);
  std::map<std::string, std::string> group_of;
  for (const Json& module : own) {
    const std::string name = text_at(module, "name");
    std::map<std::string, std::set<std::string>> lists;
    for (const char* key : {"request_names", "definitions"}) {
      if (!module.is_object() || !module.contains(key) || !module[key].is_array())
        test.wrong(fmt::format("{} of module {}", key, name), text_of(module));
      for (const Json& entry : module[key]) {
        differences.checked();
        const std::string type = entry.is_string() ? entry.get<std::string>() : "?";
        if (!lists[key].insert(type).second)
          differences.add("module " + name, "each name once in " + std::string(key), type);
      }
    }
    for (const std::string& type : lists["request_names"])
      if (!lists["definitions"].contains(type))
        differences.add("module " + name, type + " is listed, and so defined", "no definition");
    for (const std::string& type : lists["definitions"]) {
      if (!lists["request_names"].contains(type))
        differences.add("module " + name, type + " is defined, and so listed", "it is not listed");
      const auto [holder, is_new] = group_of.emplace(type, name);
      if (!is_new)
        differences.add("module " + name, type + " in one module",
                        "in " + holder->second + " as well");
    }
  }
  for (const GoldenLine& line : golden.list(kFile, "modules"))
    for (const Json& type : line.at("definitions")) {
      differences.checked();
      const auto found = group_of.find(type.get<std::string>());
      if (found == group_of.end() || found->second != line.text("name"))
        differences.add(line.place, type.get<std::string>() + " in module " + line.text("name"),
                        found == group_of.end() ? "in none" : "in " + found->second);
    }
  differences.finish();
}

}  // namespace

void add_pipe_registry_cases(CaseList& list, const Registry& registry, const Golden& golden) {
  for (const Definition& row : registry.definitions()) {
    const std::string name(to_string(row.type));
    list.add(pipe_case(
        fmt::format("Registry.{}_IsTheRowOfTheRelease", name),
        {"registry.numbers", "registry.payload-types", "registry.result-types"},
        fmt::format("{} has the number, group, payloads, result and handler of the release.", name),
        [=](Case& test) { judge_row(test, *golden, name); }));
    list.add(pipe_case(fmt::format("Registry.{}_AnswersToItsNumber", name), {"registry.numbers"},
                       fmt::format("Number {}, in any integer encoding, is {}.", row.number, name),
                       [=](Case& test) { judge_number(test, *golden, name); }));
  }
  list.add(pipe_case("Registry.HasNoOtherRows", {"registry.outside-is-nobody"},
                     "There is no request type that the release does not have.",
                     [=](Case& test) { has_no_other_rows(test, *golden); }));
  list.add(pipe_case("Registry.DescribesNothingElse", {"registry.outside-is-nobody"},
                     "A name or number outside the table is unknown, also when its low bits are "
                     "not.",
                     describe_refuses));
  list.add(pipe_case("Registry.HasNoOtherPositions", {"registry.payload-types"},
                     "A position behind the last payload of a row is unknown.",
                     positions_are_refused));
  list.add(pipe_case("Registry.NamesAndNumbersAreUnique", {"registry.consistent"},
                     "No name and no number stands in two rows.", unique));
  list.add(pipe_case("Registry.HasNoNonBlockingHandler", {"registry.no-non-blocking"},
                     "No definition is NON_BLOCKING.", no_non_blocking));
  list.add(pipe_case("Registry.PassesInitialize", {"registry.consistent"},
                     "The whole table passes the rules of initialize_protocols().",
                     passes_initialize));
  list.add(pipe_case("Registry.ListsMatchDefinitions", {"registry.consistent"},
                     "Each group's list names exactly what it defines, as in the release.",
                     [=](Case& test) { lists_match(test, *golden); }));
}

}  // namespace kvc::conformance
