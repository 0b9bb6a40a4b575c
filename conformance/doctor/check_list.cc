// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/doctor/check_list.h"

#include <algorithm>

namespace kvc::conformance {
namespace {

const char* mark_of(Check::State state) {
  switch (state) {
    case Check::State::kFine:
      return "ok   ";
    case Check::State::kAbsent:
      return "-    ";
    case Check::State::kWrong:
      return "WRONG";
  }
  return "";
}

}  // namespace

bool CheckList::any_wrong() const {
  return std::any_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.state == Check::State::kWrong; });
}

std::string in_words(const CheckList& list) {
  std::string out = list.title + "\n";
  for (const Check& check : list.checks) {
    out += std::string("  ") + mark_of(check.state) + "  " + check.what + "\n";
    if (!check.remedy.empty()) out += "           " + check.remedy + "\n";
  }
  return out;
}

}  // namespace kvc::conformance
