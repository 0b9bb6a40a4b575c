// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/paragraphs.h"

#include <algorithm>
#include <charconv>

namespace kvc {

Result<std::vector<std::uint32_t>> parse_pattern(const std::string& text) {
  const auto refuse = [&](const char* why) {
    return Error{Errc::kInvalidArgument, "", "'" + text + "' " + why};
  };
  std::vector<std::uint32_t> tokens;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::uint32_t token = 0;
    const auto [behind, error] = std::from_chars(at, end, token);
    if (error != std::errc()) return refuse("is no list of token ids, such as 200006 or 1,2,3");
    tokens.push_back(token);
    at = behind;
    if (at == end) break;
    if (*at++ != ',') return refuse("is no list of token ids, such as 200006 or 1,2,3");
  }
  if (tokens.size() > kPatternTokensMax) return refuse("has more than 5 token ids");
  return tokens;
}

std::vector<TokenRange> split_paragraphs(std::span<const std::uint32_t> tokens,
                                         const ParagraphPatterns& patterns) {
  if (patterns.start.empty()) return {TokenRange{0, tokens.size()}};
  std::vector<TokenRange> paragraphs;
  auto at = tokens.begin();
  while (true) {
    const auto start = std::search(at, tokens.end(), patterns.start.begin(), patterns.start.end());
    if (start == tokens.end()) return paragraphs;
    const auto body = start + static_cast<std::ptrdiff_t>(patterns.start.size());
    const auto end = std::search(body, tokens.end(), patterns.end.begin(), patterns.end.end());
    if (end == tokens.end()) return paragraphs;
    at = end + static_cast<std::ptrdiff_t>(patterns.end.size());
    paragraphs.push_back({static_cast<std::size_t>(start - tokens.begin()),
                          static_cast<std::size_t>(at - tokens.begin())});
  }
}

}  // namespace kvc
