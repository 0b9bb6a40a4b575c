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

namespace {

// What follows `option` in a command line, up to its end; nothing where the option is not there.
std::string_view behind_option(std::string_view command, std::string_view option) {
  const std::size_t at = command.find(option);
  if (at == std::string_view::npos) return {};
  std::string_view value = command.substr(at + option.size());
  const std::size_t begin = value.find_first_not_of("= \t'\"");
  if (begin == 0 || begin == std::string_view::npos) return {};
  value.remove_prefix(begin);
  return value;
}

}  // namespace

std::optional<std::uint64_t> cache_bytes_of_command(std::string_view command) {
  const std::string_view value = behind_option(command, "--l1-size-gb");
  double gibibytes = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), gibibytes);
  if (read.ec != std::errc() || !(gibibytes > 0)) return std::nullopt;
  return static_cast<std::uint64_t>(gibibytes * static_cast<double>(1U << 30U));
}

std::vector<std::uint32_t> token_pattern(std::string_view text) {
  std::vector<std::uint32_t> tokens;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::uint32_t token = 0;
    const auto read = std::from_chars(at, end, token);
    if (read.ec != std::errc()) return {};
    tokens.push_back(token);
    at = read.ptr;
    if (at == end || *at != ',') return tokens;
    ++at;
  }
}

std::vector<std::uint32_t> pattern_of_command(std::string_view command, std::string_view option) {
  return token_pattern(behind_option(command, option));
}

}  // namespace kvc::conformance
