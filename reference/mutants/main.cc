// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// kvserver-mutants: kvserver with a deliberate flaw, for ci/mutants. Not installed.
#include <iostream>

#include "mutants/command_line.h"
#include "mutants/flawed_server.h"

int main(int argc, char** argv) {
  int exit_code = 0;
  const auto command =
      kvc::mutants::parse_mutant_command({argv + 1, argv + argc}, std::cout, std::cerr, exit_code);
  if (!command) return exit_code;
  std::vector<const char*> arguments{argv[0]};
  for (const std::string& argument : command->for_kvserver) arguments.push_back(argument.c_str());
  const auto options =
      kvc::server::parse_options(static_cast<int>(arguments.size()), arguments.data(), exit_code);
  if (!options) return exit_code;
  return kvc::mutants::run_flawed_server(*options, command->flaw);
}
