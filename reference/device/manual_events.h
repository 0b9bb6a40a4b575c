// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The manual events of each device. REQUIRES: the device is of that kind.
#pragma once

#include <memory>

#include "kvc/device/manual_event.h"

namespace kvc {

std::unique_ptr<ManualEvent::Impl> create_host_manual_event(Device& device);
std::unique_ptr<ManualEvent::Impl> create_cuda_manual_event(Device& device);

}  // namespace kvc
