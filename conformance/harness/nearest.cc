// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace kvc::conformance {
namespace {

char folded(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Letters to insert, drop or replace.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (folded(a[i]) == folded(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& candidate : known) {
    // Of a candidate that is longer, only as much as was typed is compared.
    const std::string_view part = std::string_view(candidate).substr(0, name.size() + 1);
    const std::size_t away = distance(name, part);
    if (best != nullptr && away >= best_distance) continue;
    best = &candidate;
    best_distance = away;
  }
  if (best == nullptr || best_distance > std::max<std::size_t>(2, name.size() / 4)) return "";
  return "; did you mean " + *best + "?";
}

}  // namespace kvc::conformance
