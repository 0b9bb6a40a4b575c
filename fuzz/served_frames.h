// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ServedFrames: payloads that belong together, so that a good part of what the hammer sends gets
// past decoding and is served: a registered buffer, keys over few tokens, block ids mostly in
// range, events that open. Owns the buffer and the events on the host device.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "kvc/device/device.h"
#include "kvc/protocol/bytes.h"
#include "kvc/protocol/wire_type.h"

namespace kvc::fuzz {

class ServedFrames {
 public:
  ServedFrames(Device& device, std::size_t chunk_size);

  // A frame of `type`; which one is left to `random`.
  Bytes make(WireType type, std::mt19937_64& random) const;

 private:
  Bytes key(std::mt19937_64& random) const;
  Bytes block_ids(std::mt19937_64& random) const;

  std::size_t chunk_size_;
  std::vector<std::shared_ptr<Buffer>> buffers_;
  std::shared_ptr<Event> event_;
  Bytes kv_cache_;
  Bytes blend_kv_cache_;
};

}  // namespace kvc::fuzz
