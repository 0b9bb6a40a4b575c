// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The environment failed: the words of a DeviceError.
#pragma once

#include <cstring>
#include <string>

#include "kvc/device/device.h"

namespace kvc {

// "shm_open /kv-1-2: No space left on device"
inline std::string system_error_text(const char* call, const std::string& place, int error) {
  char buffer[128];
  // The GNU form, which answers the text wherever it is.
  return std::string(call) + " " + place + ": " + strerror_r(error, buffer, sizeof buffer);
}

[[noreturn]] inline void throw_system_error(const char* call, const std::string& place, int error) {
  throw DeviceError(system_error_text(call, place, error));
}

}  // namespace kvc
