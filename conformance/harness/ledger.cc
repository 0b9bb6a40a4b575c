// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/ledger.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "conformance/harness/embedded_ledger.h"

namespace kvc::conformance {
namespace {

[[noreturn]] void fail(const YAML::Node& node, const std::string& what) {
  throw LedgerError(fmt::format("requirements.yaml:{}: {}", node.Mark().line + 1, what));
}

std::string text_of(const YAML::Node& node, const std::string& field) {
  const YAML::Node value = node[field];
  if (!value) fail(node, "no '" + field + "'");
  if (!value.IsScalar() || value.Scalar().empty()) fail(value, "'" + field + "' is to be a text");
  std::string text = value.Scalar();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool is_requirement_id(std::string_view id) {
  return id.find('.') != std::string_view::npos && std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
         });
}

Level level_of_text(const YAML::Node& node, const std::string& text) {
  if (text == "MUST") return Level::kMust;
  if (text == "SHOULD") return Level::kShould;
  if (text == "MAY") return Level::kMay;
  fail(node, "level '" + text + "' is none of MUST, SHOULD, MAY");
}

Requirement requirement_of(const YAML::Node& node) {
  if (!node.IsMap()) fail(node, "a requirement is to be a map");
  for (const auto& field : node) {
    static const std::set<std::string> known = {"id",     "level",    "text",
                                                "source", "releases", "how_to_read"};
    const auto name = field.first.as<std::string>();
    if (known.count(name) == 0) fail(field.first, "unknown field '" + name + "'");
  }
  Requirement out;
  out.id = text_of(node, "id");
  if (!is_requirement_id(out.id)) fail(node, "id '" + out.id + "' is to be like envelope.echo-uid");
  out.level = level_of_text(node, text_of(node, "level"));
  out.text = text_of(node, "text");
  out.source = text_of(node, "source");
  out.how_to_read = text_of(node, "how_to_read");
  const YAML::Node releases = node["releases"];
  if (!releases || !releases.IsSequence() || releases.size() == 0)
    fail(node, "'releases' of " + out.id + " is to be a list");
  for (const auto& release : releases) out.releases.push_back(release.as<std::string>());
  return out;
}

}  // namespace

std::string_view to_string(Level level) {
  switch (level) {
    case Level::kMust:
      return "MUST";
    case Level::kShould:
      return "SHOULD";
    case Level::kMay:
      return "MAY";
  }
  return "?";
}

Ledger Ledger::parse(const std::string& yaml) try {
  Ledger ledger;
  const YAML::Node root = YAML::Load(yaml);
  if (!root.IsMap()) fail(root, "the ledger is to be a map with 'requirements'");
  for (const auto& part : root) {
    const auto name = part.first.as<std::string>();
    const YAML::Node& content = part.second;
    if (name == "requirements") {
      if (!content.IsSequence()) fail(content, "'requirements' is to be a list");
      for (const auto& node : content) ledger.requirements_.push_back(requirement_of(node));
    } else if (name == "aliases") {
      for (const auto& alias : content)
        ledger.aliases_[alias.first.as<std::string>()] = alias.second.as<std::string>();
    } else if (name == "retired") {
      for (const auto& id : content) ledger.retired_.push_back(id.as<std::string>());
    } else {
      fail(part.first, "unknown part '" + name + "'");
    }
  }
  if (ledger.requirements_.empty()) fail(root, "no 'requirements'");
  return ledger;
} catch (const YAML::Exception& error) {
  throw LedgerError(fmt::format("requirements.yaml:{}: {}", error.mark.line + 1, error.msg));
}

const Ledger& Ledger::embedded() {
  static const Ledger ledger = parse(std::string(embedded_ledger()));
  return ledger;
}

const Requirement* Ledger::find(std::string_view id) const {
  const auto found =
      std::find_if(requirements_.begin(), requirements_.end(),
                   [&](const Requirement& requirement) { return requirement.id == id; });
  return found == requirements_.end() ? nullptr : &*found;
}

std::string Ledger::current_id(const std::string& id) const {
  const auto found = aliases_.find(id);
  return found == aliases_.end() ? id : found->second;
}

Level Ledger::level_of(const CaseSpec& spec) const {
  std::optional<Level> level;
  for (const std::string& id : spec.proves) {
    const Requirement* requirement = find(id);
    if (requirement != nullptr) level = std::max(level.value_or(Level::kMay), requirement->level);
  }
  return level.value_or(Level::kMust);
}

std::vector<std::string> Ledger::problems(const CaseList& cases) const {
  std::vector<std::string> out;
  std::set<std::string> live;
  std::set<std::string> proved;
  const auto claim_id = [&](const std::string& id) {
    if (!live.insert(id).second) out.push_back("the id " + id + " is used twice");
  };
  for (const Requirement& requirement : requirements_) claim_id(requirement.id);
  for (const CaseSpec& spec : cases.cases()) {
    claim_id(spec.id);
    if (spec.proves.empty()) out.push_back(spec.id + " names no requirement");
    for (const std::string& id : spec.proves) {
      proved.insert(id);
      if (find(id) == nullptr)
        out.push_back(spec.id + " names the requirement " + id + ", which is not in the ledger");
    }
  }
  for (const Requirement& requirement : requirements_)
    if (requirement.level == Level::kMust && proved.count(requirement.id) == 0)
      out.push_back("the MUST " + requirement.id + " has no case");
  for (const auto& [from, to] : aliases_) {
    if (live.count(from) > 0) out.push_back("the alias " + from + " is also a living id");
    if (live.count(to) == 0)
      out.push_back("the alias " + from + " leads to " + to + ", which does not exist");
  }
  for (const std::string& id : retired_)
    if (live.count(id) > 0) out.push_back("the retired id " + id + " is used again");
  return out;
}

}  // namespace kvc::conformance
