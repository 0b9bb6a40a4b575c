// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/token_ids.h"

#include <string>
#include <utility>

#include "kvc/protocol/assert.h"

namespace kvc {
namespace {

Error bad_token(std::size_t index, Int token, const char* what) {
  return Error{Errc::kInvalidArgument, "$.token_ids[" + std::to_string(index) + "]",
               "token id " + token.to_string() + what};
}

}  // namespace

Result<void> read_tokens(const IntArray& tokens, IntArray::Iterator& at, std::size_t index,
                         std::span<std::uint32_t> out) {
  if (tokens.all_fit_u32()) {
    at.read_u32(out.data(), out.size());
    return {};
  }
  for (std::uint32_t& token : out) {
    const Int value = *at;
    const std::optional<std::uint32_t> fitting = value.as_u32();
    if (!fitting) return bad_token(index, value, " does not fit 32 bits");
    token = *fitting;
    ++at;
    ++index;
  }
  return {};
}

Result<std::vector<std::uint32_t>> leading_tokens(const IntArray& tokens, std::size_t count) {
  KVC_ASSERT(count <= tokens.size());
  std::vector<std::uint32_t> out(count);
  IntArray::Iterator at = tokens.begin();
  if (Result<void> read = read_tokens(tokens, at, 0, out); !read) return read.error();
  return out;
}

Result<std::vector<TokenSegment>> token_segments(const IntArray& tokens) {
  std::vector<TokenSegment> segments(1);
  if (tokens.all_fit_u32()) {
    segments.front().tokens.resize(tokens.size());
    tokens.begin().read_u32(segments.front().tokens.data(), tokens.size());
    return segments;
  }
  std::size_t index = 0;
  for (const Int token : tokens) {
    if (token < Int(0)) return bad_token(index, token, " is negative");
    if (const std::optional<std::uint32_t> fitting = token.as_u32(); fitting)
      segments.back().tokens.push_back(*fitting);
    else
      segments.push_back(TokenSegment{index + 1, {}});
    ++index;
  }
  return segments;
}

}  // namespace kvc
