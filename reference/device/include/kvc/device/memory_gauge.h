// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// free_memory_bytes: how much memory the device has left, for all processes together: to see
// whether another process lets go of what it had. Nothing: the device cannot tell. Throws
// DeviceError. Any thread.
#pragma once

#include <cstddef>
#include <optional>

#include "kvc/device/device.h"

namespace kvc {

// A device that can tell also is one of these.
class MemoryGauge {
 public:
  virtual ~MemoryGauge() = default;
  virtual std::size_t free_bytes() = 0;
};

inline std::optional<std::size_t> free_memory_bytes(Device& device) {
  auto* const gauge = dynamic_cast<MemoryGauge*>(&device);
  if (gauge == nullptr) return std::nullopt;
  return gauge->free_bytes();
}

}  // namespace kvc
