// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/verdict.h"

#include <array>

namespace kvc::conformance {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"PASS", "WRONG",   "SILENT",
                                                    "DEAD", "SKIPPED", "HARNESS"};

}  // namespace

std::string_view to_string(Verdict verdict) { return kNames.at(static_cast<std::size_t>(verdict)); }

bool parse_verdict(std::string_view name, Verdict& verdict) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] != name) continue;
    verdict = static_cast<Verdict>(i);
    return true;
  }
  return false;
}

}  // namespace kvc::conformance
