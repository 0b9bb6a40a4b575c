// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// MessageMaker: one message after the other, from the same seed the same ones: frames of noise,
// requests as they should be, and such requests with something wrong. Not thread-safe.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "fuzz/golden_frames.h"
#include "fuzz/served_frames.h"
#include "kvc/protocol/registry.h"

namespace kvc::fuzz {

using Frames = std::vector<Bytes>;

class MessageMaker {
 public:
  MessageMaker(const Registry& registry, const GoldenFrames& golden, const ServedFrames& served,
               std::uint64_t seed)
      : registry_(registry), golden_(golden), served_(served), random_(seed) {}

  // A message as a DEALER sends it.
  Frames next();

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  Bytes noise(std::size_t size_max);
  Bytes payload(WireType type);
  Frames noise_message();
  Frames request();
  void damage(Frames& frames);
  void damage_bytes(Bytes& frame);

  const Registry& registry_;
  const GoldenFrames& golden_;
  const ServedFrames& served_;
  std::mt19937_64 random_;
  std::uint64_t num_requests_ = 0;
};

}  // namespace kvc::fuzz
