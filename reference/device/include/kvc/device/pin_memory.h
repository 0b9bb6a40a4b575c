// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// pin_host_memory: makes host memory fit for a device's copies, until the answer is gone; the
// memory must live longer, and the device too. Takes all its pages where that needs it. Throws
// DeviceError. Null: the device has nothing to do. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kvc/device/device.h"

namespace kvc {

// A device that pins also is one of these.
class MemoryPinner {
 public:
  virtual ~MemoryPinner() = default;
  virtual std::shared_ptr<void> pin(std::span<std::uint8_t> memory) = 0;
};

inline std::shared_ptr<void> pin_host_memory(Device& device, std::span<std::uint8_t> memory) {
  auto* const pinner = dynamic_cast<MemoryPinner*>(&device);
  return pinner == nullptr || memory.empty() ? nullptr : pinner->pin(memory);
}

}  // namespace kvc
