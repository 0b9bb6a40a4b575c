// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "mutants/command_line.h"

#include <ostream>

namespace kvc::mutants {
namespace {

constexpr int kUsageExitCode = 2;

// A line each, for people and for ci/mutants: name, requirement, property, sentence.
void list_flaws(std::ostream& out) {
  for (const Flaw& flaw : all_flaws())
    out << flaw.name << '\t' << flaw.requirement << '\t'
        << (flaw.property.empty() ? "-" : flaw.property) << '\t' << flaw.sentence << '\n';
}

}  // namespace

std::optional<MutantCommand> parse_mutant_command(const std::vector<std::string>& arguments,
                                                  std::ostream& out, std::ostream& err,
                                                  int& exit_code) {
  constexpr std::string_view kFlaw = "--flaw";
  MutantCommand command;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    std::string name;
    if (argument == "--list-flaws") {
      list_flaws(out);
      exit_code = 0;
      return std::nullopt;
    }
    if (argument == kFlaw && i + 1 < arguments.size()) {
      name = arguments[++i];
    } else if (argument.starts_with("--flaw=")) {
      name = argument.substr(kFlaw.size() + 1);
    } else if (argument == kFlaw) {
      err << "--flaw: say which; --list-flaws lists them\n";
      exit_code = kUsageExitCode;
      return std::nullopt;
    } else {
      command.for_kvserver.push_back(argument);
      continue;
    }
    command.flaw = find_flaw(name);
    if (command.flaw == nullptr) {
      err << "--flaw " << name << ": there is no such flaw; do you mean " << nearest_flaw_name(name)
          << "? --list-flaws lists them\n";
      exit_code = kUsageExitCode;
      return std::nullopt;
    }
  }
  return command;
}

}  // namespace kvc::mutants
