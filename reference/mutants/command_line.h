// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The command line of kvserver-mutants: kvserver's, and --flaw NAME and --list-flaws in front of
// it. Pure but for what it prints.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "mutants/flaw.h"

namespace kvc::mutants {

struct MutantCommand {
  const Flaw* flaw = nullptr;             // null: none
  std::vector<std::string> for_kvserver;  // the other arguments
};

// Where there is nothing to run (--list-flaws, or a flaw that is none, which has then been said on
// `err`), sets exit_code and answers nothing.
std::optional<MutantCommand> parse_mutant_command(const std::vector<std::string>& arguments,
                                                  std::ostream& out, std::ostream& err,
                                                  int& exit_code);

}  // namespace kvc::mutants
