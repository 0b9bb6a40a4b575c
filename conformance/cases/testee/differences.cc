// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/cases/testee/differences.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvc::conformance {
namespace {

constexpr std::size_t kShownMax = 5;

const char* kind_of(const Json& value) {
  if (value.is_null()) return "nil";
  if (value.is_boolean()) return "bool";
  if (value.is_number_float()) return "float";
  if (value.is_number()) return "int";
  if (value.is_string()) return "str";
  if (value.is_binary()) return "bin";
  return value.is_array() ? "array" : "map";
}

std::string told(const Json& value) { return fmt::format("{} {}", kind_of(value), text_of(value)); }

// JSON's own comparison takes 2^64-1 for -1.
bool same_int(const Json& a, const Json& b) {
  const auto is_negative = [](const Json& value) {
    return !value.is_number_unsigned() && value.get<std::int64_t>() < 0;
  };
  return is_negative(a) == is_negative(b) && a.get<std::uint64_t>() == b.get<std::uint64_t>();
}

std::optional<Difference> differ(const Json& expected, const Json& actual,
                                 const std::string& path) {
  const std::string kind = kind_of(expected);
  if (kind != kind_of(actual)) return Difference{path, told(expected), told(actual)};
  if (kind == "array") {
    const std::size_t size = std::min(expected.size(), actual.size());
    for (std::size_t i = 0; i < size; ++i)
      if (auto found = differ(expected[i], actual[i], fmt::format("{}[{}]", path, i))) return found;
    if (expected.size() == actual.size()) return std::nullopt;
    return Difference{path, fmt::format("{} elements", expected.size()),
                      fmt::format("{} elements: {}", actual.size(), text_of(actual))};
  }
  if (kind == "map") {
    for (const auto& [key, value] : expected.items()) {
      const auto found = actual.find(key);
      if (found == actual.end()) return Difference{path + "." + key, told(value), "nothing"};
      if (auto difference = differ(value, *found, path + "." + key)) return difference;
    }
    for (const auto& [key, value] : actual.items())
      if (!expected.contains(key)) return Difference{path + "." + key, "nothing", told(value)};
    return std::nullopt;
  }
  if (kind == "bin") {
    const auto& left = expected.get_binary();
    const auto& right = actual.get_binary();
    const bool same = static_cast<const Bytes&>(left) == static_cast<const Bytes&>(right);
    return same ? std::nullopt : std::optional<Difference>({path, told(expected), told(actual)});
  }
  if (kind == "int" ? same_int(expected, actual) : expected == actual) return std::nullopt;
  return Difference{path, told(expected), told(actual)};
}

}  // namespace

std::optional<Difference> first_difference(const Json& expected, const Json& actual) {
  return differ(expected, actual, "$");
}

void Differences::add(const std::string& where, const std::string& expected,
                      const std::string& actual) {
  if (++num_differences_ > kShownMax) return;
  const std::string newline = num_differences_ > 1 ? "\n" : "";
  expected_ += fmt::format("{}{}: {}", newline, where, expected);
  actual_ += fmt::format("{}{}: {}", newline, where, actual);
}

void Differences::expect_implemented(const TesteeReply& reply, const std::string& command) const {
  if (reply.kind != TesteeReply::Kind::kUnimplemented) return;
  throw Finding{Verdict::kSkipped, "the testee implements " + command, reply.text(), ""};
}

void Differences::expect_value(const std::string& where, const Json& expected,
                               const TesteeReply& reply) {
  ++num_checks_;
  expect_implemented(reply, "what is asked");
  if (!reply.ok()) return add(where, text_of(expected), reply.text());
  if (const auto difference = first_difference(expected, reply.value))
    add(where, fmt::format("{} = {}", difference->path, difference->expected),
        fmt::format("{} = {}", difference->path, difference->actual));
}

void Differences::expect_error(const std::string& where, const std::vector<std::string>& kinds,
                               const std::string& why, const TesteeReply& reply) {
  ++num_checks_;
  expect_implemented(reply, "what is asked");
  const bool is_error = reply.kind == TesteeReply::Kind::kError;
  if (is_error &&
      (kinds.empty() || std::find(kinds.begin(), kinds.end(), reply.error) != kinds.end()))
    return;
  const std::string kind = kinds.empty() ? "" : fmt::format(" ({})", fmt::join(kinds, " or "));
  add(where, fmt::format("an error{}, as the real one says: {}", kind, why),
      is_error ? reply.text() : "ok: " + reply.text());
}

void Differences::finish() {
  test_.checked(num_checks_);
  if (num_differences_ == 0) return;
  if (num_differences_ > kShownMax)
    actual_ += fmt::format("\n… and {} more", num_differences_ - kShownMax);
  if (num_differences_ > 1)
    actual_ += fmt::format("\n{} of {} checks fail", num_differences_, num_checks_);
  test_.wrong(expected_, actual_);
}

}  // namespace kvc::conformance
