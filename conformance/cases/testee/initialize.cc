// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Registry, the checks at its making: modules given as data, right and broken, with the verdict of
// the real initialize_protocols().
#include <fmt/format.h>

#include <algorithm>

#include "conformance/cases/testee/differences.h"
#include "conformance/cases/testee/testee_cases.h"

namespace kvc::conformance {
namespace {

struct Fault {
  const char* kind;
  const char* id;
  const char* words;  // what the real message begins with, or has in it
};
constexpr Fault kFaults[] = {
    {"duplicate_definition", "DuplicateDefinitions", "Duplicate protocol definition"},
    {"name_without_definition", "NamesWithoutDefinition", "is listed in REQUEST_NAMES but has no"},
    {"definition_without_enum_member", "DefinitionsWithoutEnumMember",
     "has no corresponding RequestType enum member"},
    {"enum_member_without_definition", "EnumMembersWithoutDefinition",
     "have no protocol definitions"},
};

Json message_of(const GoldenLine& line) {
  Json members = Json::array();
  for (const auto& [name, number] : line.at("enum").items())
    members.push_back(Json::array({name, number}));
  Json modules = Json::array();
  for (const Json& module : line.at("modules")) {
    Json definitions = Json::array();
    for (const Json& definition : module.at("definitions"))
      definitions.push_back(Json::array({definition.at("name"),
                                         {{"payloads", definition.at("payload_classes")},
                                          {"result", definition.at("response_class")},
                                          {"handler", definition.at("handler_type")}}}));
    modules.push_back({{"name", module.at("name")},
                       {"request_names", module.at("request_names")},
                       {"definitions", std::move(definitions)}});
  }
  return {{"enum", std::move(members)}, {"modules", std::move(modules)}};
}

// A definition that its module does not list: the real check finds its enum member without one, a
// stricter one may say what is the matter.
bool has_unlisted_definition(const GoldenLine& line) {
  for (const Json& module : line.at("modules"))
    for (const Json& definition : module.at("definitions")) {
      const Json& names = module.at("request_names");
      if (std::find(names.begin(), names.end(), definition.at("name")) == names.end()) return true;
    }
  return false;
}

// `fault` null: those that the real check accepts.
void initialize(Case& test, GoldenData& golden, const Fault* fault, bool stricter) {
  Differences differences(test);
  for (const GoldenLine& line : golden.list("validation.json", "cases")) {
    const std::string words = line.has("error") ? line.text("error") : "";
    if (line.has("stricter") != stricter) continue;
    if (!stricter && words.empty() != (fault == nullptr)) continue;
    if (fault != nullptr && words.find(fault->words) == std::string::npos) continue;
    const std::string where = fmt::format("{} ({})", line.place, line.text("about"));
    const TesteeReply reply = test.testee().ask("initialize", message_of(line));
    differences.expect_implemented(reply, "initialize");
    if (stricter) {
      differences.checked();  // either is fine
    } else if (fault == nullptr) {
      differences.expect_value(where, line.at("result").size(), reply);
    } else {
      std::vector<std::string> kinds = {fault->kind};
      if (fault == &kFaults[3] && has_unlisted_definition(line))
        kinds.emplace_back("definition_without_name");
      differences.expect_error(where, kinds, words, reply);
    }
  }
  differences.finish();
}

// Each broken line is of a kind that has a case.
void knows_all_errors(GoldenData& golden) {
  for (const GoldenLine& line : golden.list("validation.json", "cases")) {
    if (!line.has("error")) continue;
    const std::string words = line.text("error");
    if (std::none_of(std::begin(kFaults), std::end(kFaults), [&](const Fault& fault) {
          return words.find(fault.words) != std::string::npos;
        }))
      throw GoldenError(fmt::format("{}: an error of no known kind: {}", line.place, words));
  }
}

}  // namespace

void add_pipe_initialize_cases(CaseList& list, const Golden& golden) {
  list.add(pipe_case("Registry.InitializeAcceptsConsistentModules", {"registry.initialize"},
                     "Modules that fit the enum are put together, and counted.", [=](Case& test) {
                       knows_all_errors(*golden);
                       initialize(test, *golden, nullptr, false);
                     }));
  for (const Fault& fault : kFaults)
    list.add(pipe_case(
        fmt::format("Registry.InitializeRefuses{}", fault.id), {"registry.initialize"},
        fmt::format("Broken modules are refused as {}, the first fault first.", fault.kind),
        [=, &fault](Case& test) { initialize(test, *golden, &fault, false); }));
  list.add(pipe_case("Registry.InitializeSurvivesWhatIsNotChecked",
                     {"registry.initialize-stricter"},
                     "What the real check lets through is taken or refused, and the testee lives.",
                     [=](Case& test) { initialize(test, *golden, nullptr, true); }));
}

}  // namespace kvc::conformance
