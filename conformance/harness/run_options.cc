// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/run_options.h"

#include <fmt/format.h>

#include <regex>

namespace kvc::conformance {

const Registry& registry_named(const std::string& release) {
  if (const Registry* registry = find_registry(release)) return *registry;
  std::string known;
  for (const std::string_view name : known_releases())
    known += (known.empty() ? "" : ", ") + std::string(name);
  throw UsageError(fmt::format("release {} is unknown; known: {}", release, known));
}

std::optional<std::uint64_t> cache_bytes_of_command(const std::string& command) {
  static const std::regex kOption(R"(--l1-size-gb(?:=|\s+)([0-9]*\.?[0-9]+))");
  std::smatch found;
  if (!std::regex_search(command, found, kOption)) return std::nullopt;
  return static_cast<std::uint64_t>(std::stod(found[1].str()) * static_cast<double>(1U << 30U));
}

}  // namespace kvc::conformance
