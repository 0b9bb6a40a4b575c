// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// RemoteMemory: what a Buffer also is whose address means nothing on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kvc/protocol/bytes.h"

namespace kvc {

class RemoteMemory {
 public:
  virtual ~RemoteMemory() = default;
  virtual void read(std::size_t offset, std::span<std::uint8_t> out) const = 0;
  virtual void write(std::size_t offset, ByteView bytes) = 0;
};

}  // namespace kvc
