// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/release.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/harness/verdict.h"
#include "kvc/protocol/assert.h"

namespace kvc::conformance {

std::optional<std::string> difference_of_type(const Registry& registry, RequestType type) {
  if (registry.release() == kCasesRelease) return std::nullopt;
  const Registry* written_for = find_registry(kCasesRelease);
  KVC_ASSERT(written_for != nullptr);
  const Definition* here = registry.find(type);
  const Definition* there = written_for->find(type);
  if (here == nullptr)
    return fmt::format("release {} has no {}", registry.release(), to_string(type));
  if (there != nullptr && here->payloads == there->payloads && here->result == there->result)
    return std::nullopt;
  return fmt::format("{} has other payloads or another result in release {}", to_string(type),
                     registry.release());
}

void require_type(const Registry& registry, RequestType type) {
  if (const auto difference = difference_of_type(registry, type))
    throw Finding{Verdict::kSkipped, "the release has the request", *difference, ""};
}

std::optional<std::string> difference_of_rules(const Ledger& ledger, const CaseSpec& spec,
                                               const std::string& release) {
  if (release == kCasesRelease) return std::nullopt;
  for (const std::string& id : spec.proves) {
    const Requirement* rule = ledger.find(id);
    if (rule != nullptr && std::ranges::find(rule->releases, release) == rule->releases.end())
      return fmt::format("a rule that it proves is not known to hold in release {}", release);
  }
  return std::nullopt;
}

}  // namespace kvc::conformance
