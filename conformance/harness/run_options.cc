// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/run_options.h"

#include <fmt/format.h>

#include <charconv>

namespace kvc::conformance {

const Registry& registry_named(const std::string& release) {
  if (const Registry* registry = find_registry(release)) return *registry;
  std::string known;
  for (const std::string_view name : known_releases())
    known += (known.empty() ? "" : ", ") + std::string(name);
  throw UsageError(fmt::format("release {} is unknown; known: {}", release, known));
}

std::optional<std::uint64_t> cache_bytes_of_command(std::string_view command) {
  static constexpr std::string_view kOption = "--l1-size-gb";
  const std::size_t at = command.find(kOption);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view value = command.substr(at + kOption.size());
  const std::size_t begin = value.find_first_not_of("= \t");
  if (begin == 0 || begin == std::string_view::npos) return std::nullopt;
  value.remove_prefix(begin);
  double gibibytes = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), gibibytes);
  if (read.ec != std::errc() || !(gibibytes > 0)) return std::nullopt;
  return static_cast<std::uint64_t>(gibibytes * static_cast<double>(1U << 30U));
}

}  // namespace kvc::conformance
