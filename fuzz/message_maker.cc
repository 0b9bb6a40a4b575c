// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "fuzz/message_maker.h"

#include <algorithm>
#include <utility>

#include "kvc/protocol/codec.h"
#include "kvc/protocol/envelope.h"

namespace kvc::fuzz {

Frames MessageMaker::next() {
  const std::uint64_t kind = below(10);
  if (kind < 2) return noise_message();
  Frames frames = request();
  if (kind < 7)
    for (std::uint64_t i = 0; i <= below(3); ++i) damage(frames);
  return frames;
}

Bytes MessageMaker::noise(std::size_t size_max) {
  Bytes bytes(below(size_max + 1));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_());
  return bytes;
}

Frames MessageMaker::noise_message() {
  Frames frames(1 + below(8));
  for (Bytes& frame : frames) frame = noise(below(50) == 0 ? 256 * 1024 : 64);
  return frames;
}

Bytes MessageMaker::payload(WireType type) {
  const std::uint64_t kind = below(20);
  if (kind < 15) return served_.make(type, random_);
  const std::vector<Bytes>& frames = kind < 18 ? golden_.accepted(type) : golden_.rejected(type);
  return frames[below(frames.size())];
}

Frames MessageMaker::request() {
  const auto definitions = registry_.definitions();
  const Definition& definition = definitions[below(definitions.size())];
  Frames frames{encoded(Int(num_requests_++)), encode_type_frame(registry_, definition.type)};
  for (const WireType type : definition.payloads) frames.push_back(payload(type));
  return frames;
}

void MessageMaker::damage(Frames& frames) {
  const std::size_t at = below(frames.size());
  switch (below(8)) {
    case 0:
      if (frames.size() > 1) frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1:
      frames.insert(frames.begin() + static_cast<std::ptrdiff_t>(at), Bytes(frames[at]));
      break;
    case 2:
      std::swap(frames[at], frames[below(frames.size())]);
      break;
    case 3:
      frames[at] = noise(64);
      break;
    case 4:
      if (frames.size() > 1) frames[1] = encoded(Int(below(64)));  // another request's payloads
      break;
    default:
      damage_bytes(frames[at]);
  }
}

void MessageMaker::damage_bytes(Bytes& frame) {
  if (frame.empty()) {
    frame = noise(8);
    return;
  }
  const std::size_t at = below(frame.size());
  const auto place = frame.begin() + static_cast<std::ptrdiff_t>(at);
  switch (below(5)) {
    case 0:
      frame.resize(at);
      break;
    case 1:
      frame.push_back(static_cast<std::uint8_t>(random_()));
      break;
    case 2:
      *place = static_cast<std::uint8_t>(*place ^ (1U << below(8)));
      break;
    case 3:
      *place = static_cast<std::uint8_t>(random_());
      break;
    default: {
      const Bytes more = noise(16);
      frame.insert(place, more.begin(), more.end());
    }
  }
}

}  // namespace kvc::fuzz
