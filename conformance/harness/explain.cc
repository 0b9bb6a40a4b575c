// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/explain.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "conformance/harness/json_report.h"
#include "conformance/harness/version.h"

namespace kvc::conformance {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::vector<std::string> needs_of(const CaseSpec& spec) {
  std::vector<std::string> out;
  for (const Capability need : spec.needs) out.emplace_back(to_string(need));
  return out;
}

std::vector<std::string> commands_of(const CaseSpec& spec) {
  std::vector<std::string> out;
  if (spec.on_socket) out.emplace_back("run");
  if (spec.on_pipe) out.emplace_back("testee");
  return out;
}

void explain_requirement(const Requirement& requirement, std::ostream& out) {
  out << fmt::format("{}  {}\n", requirement.id, to_string(requirement.level));
  out << "  " << requirement.text << "\n";
  out << "  source:   " << requirement.source << "\n";
  out << "  releases: " << joined(requirement.releases) << "\n";
  out << "  reading a failure: " << requirement.how_to_read << "\n";
}

bool proves(const CaseSpec& spec, const std::string& requirement) {
  return std::count(spec.proves.begin(), spec.proves.end(), requirement) > 0;
}

void explain_case(const CaseSpec& spec, const Ledger& ledger, std::ostream& out) {
  out << fmt::format("{}  a case\n  {}\n", spec.id, spec.claim);
  if (!spec.needs.empty()) out << "  needs:    " << joined(needs_of(spec)) << "\n";
  if (spec.on_socket) out << "  run it:   kvconform run --filter " << spec.id << "\n";
  if (spec.on_pipe) out << "  run it:   kvconform testee 'CMD' --filter " << spec.id << "\n";
  for (const std::string& id : spec.proves) {
    const Requirement* requirement = ledger.find(id);
    out << "\n  it proves ";
    if (requirement != nullptr)
      explain_requirement(*requirement, out);
    else
      out << id << ", which is not in the ledger\n";
  }
}

}  // namespace

void list_cases(const CaseList& cases, const Ledger& ledger, bool json, std::ostream& out) {
  if (!json) {
    for (const CaseSpec& spec : cases.cases()) {
      out << fmt::format("{}  {}  {}", spec.id, to_string(ledger.level_of(spec)), spec.claim);
      if (!spec.needs.empty()) out << "  [needs " << joined(needs_of(spec)) << "]";
      if (!spec.on_socket) out << "  [testee]";
      out << "\n";
    }
    return;
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const CaseSpec& spec : cases.cases())
    list.push_back({{"id", spec.id},
                    {"claim", spec.claim},
                    {"level", to_string(ledger.level_of(spec))},
                    {"requirements", spec.proves},
                    {"needs", needs_of(spec)},
                    {"commands", commands_of(spec)}});
  out << dumped({{"schema_version", kReportSchemaVersion},
                 {"suite_version", kSuiteVersion},
                 {"cases", list}});
}

std::vector<std::string> ids_of(const CaseList& cases) {
  std::vector<std::string> out;
  for (const CaseSpec& spec : cases.cases()) out.push_back(spec.id);
  return out;
}

bool explain(const CaseList& cases, const Ledger& ledger, const std::string& id,
             std::ostream& out) {
  const std::string now = ledger.current_id(id);
  if (now != id) out << id << " is now called " << now << "\n\n";
  const auto matches = [&](const std::string& other) {
    return ::fnmatch(now.c_str(), other.c_str(), 0) == 0;
  };
  bool any = false;
  for (const CaseSpec& spec : cases.cases()) {
    if (!matches(spec.id)) continue;
    if (any) out << "\n";
    any = true;
    explain_case(spec, ledger, out);
  }
  for (const Requirement& requirement : ledger.requirements()) {
    if (!matches(requirement.id)) continue;
    if (any) out << "\n";
    any = true;
    explain_requirement(requirement, out);
    out << "  cases:\n";
    for (const CaseSpec& spec : cases.cases())
      if (proves(spec, requirement.id)) out << fmt::format("    {}  {}\n", spec.id, spec.claim);
  }
  return any;
}

}  // namespace kvc::conformance
