// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend fingerprint: how lmcache 0.4.5 finds stored chunks: a polynomial over the tokens, modulo
// 2^64, whose low 20 bits choose the slot of a table; no token is compared. The referee knows it
// for two reasons. The cases about equal tokens make tokens that collide in it. All others draw
// tokens that do not, so that what they find has to do with their own claim, on that server too.
// Pure functions, and a plain value; no threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "conformance/harness/fresh_values.h"

namespace kvc::conformance {

std::uint64_t blend_fingerprint(std::span<const std::uint32_t> window);
std::uint32_t blend_slot(std::uint64_t fingerprint);

// Other tokens with the same fingerprint, all 64 bits of it. REQUIRES: at least five tokens, the
// last five of them at least kCollisionRoom.
inline constexpr std::uint32_t kCollisionRoom = 3000;
Tokens colliding_with(Tokens window);

// The slots that stored chunks took.
class TakenSlots {
 public:
  void take(std::span<const std::uint32_t> chunk);
  // No window of `tokens` leads to a slot that was taken by other tokens than its own.
  bool quiet(std::span<const std::uint32_t> tokens, std::size_t chunk_size) const;

 private:
  std::map<std::uint32_t, Tokens> chunks_;
};

}  // namespace kvc::conformance
