// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// CheckList: what `kvconform doctor` finds, a line each: fine, absent (and what that costs), or
// wrong (and what to do).
#pragma once

#include <string>
#include <vector>

namespace kvc::conformance {

struct Check {
  enum class State { kFine, kAbsent, kWrong };
  State state = State::kFine;
  std::string what;
  std::string remedy;  // what to do, or what goes without it; may be empty
};

struct CheckList {
  std::string title;
  std::vector<Check> checks;

  void fine(std::string what) { checks.push_back({Check::State::kFine, std::move(what), ""}); }
  void absent(std::string what, std::string remedy) {
    checks.push_back({Check::State::kAbsent, std::move(what), std::move(remedy)});
  }
  void wrong(std::string what, std::string remedy) {
    checks.push_back({Check::State::kWrong, std::move(what), std::move(remedy)});
  }
  bool any_wrong() const;
};

std::string in_words(const CheckList& list);

}  // namespace kvc::conformance
