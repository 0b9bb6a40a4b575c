// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/blend_fingerprint.h"

#include <algorithm>
#include <array>

#include "kvc/protocol/assert.h"

namespace kvc::conformance {
namespace {

constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15U;  // BlendTokenRangeMatcher._BASE
constexpr std::uint32_t kSlotMask = (1U << 20U) - 1;  // _TABLE_BITS

// The sum of kStep[i] * kBase^i is 0 modulo 2^64: a short vector of that lattice.
constexpr std::array<std::int64_t, 5> kStep = {2789, -2934, 2850, 788, 163};

}  // namespace

std::uint64_t blend_fingerprint(std::span<const std::uint32_t> window) {
  std::uint64_t sum = 0;
  for (const std::uint32_t token : window) sum = sum * kBase + token;
  return sum;
}

std::uint32_t blend_slot(std::uint64_t fingerprint) {
  return static_cast<std::uint32_t>(fingerprint) & kSlotMask;
}

Tokens colliding_with(Tokens window) {
  KVC_ASSERT(window.size() >= kStep.size());
  for (std::size_t i = 0; i < kStep.size(); ++i) {
    std::uint32_t& token = window[window.size() - 1 - i];
    KVC_ASSERT(token >= kCollisionRoom);
    token = static_cast<std::uint32_t>(token + kStep[i]);
  }
  return window;
}

void TakenSlots::take(std::span<const std::uint32_t> chunk) {
  chunks_[blend_slot(blend_fingerprint(chunk))] = Tokens(chunk.begin(), chunk.end());
}

bool TakenSlots::quiet(std::span<const std::uint32_t> tokens, std::size_t chunk_size) const {
  if (tokens.size() < chunk_size) return true;
  std::uint64_t leaves = 1;  // the weight with which a token leaves the window
  for (std::size_t i = 0; i < chunk_size; ++i) leaves *= kBase;
  std::uint64_t sum = blend_fingerprint(tokens.first(chunk_size));
  for (std::size_t at = 0; at + chunk_size <= tokens.size(); ++at) {
    if (at > 0) sum = sum * kBase + tokens[at + chunk_size - 1] - leaves * tokens[at - 1];
    const auto taken = chunks_.find(blend_slot(sum));
    if (taken == chunks_.end()) continue;
    const std::span<const std::uint32_t> window = tokens.subspan(at, chunk_size);
    if (!std::equal(window.begin(), window.end(), taken->second.begin(), taken->second.end()))
      return false;
  }
  return true;
}

}  // namespace kvc::conformance
