// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What the options of a command that needs a server choose: the server, how long it is waited for,
// and the device that an engine is played on. All throw UsageError.
#pragma once

#include <memory>
#include <string>

#include "conformance/harness/run_context.h"
#include "conformance/harness/run_options.h"
#include "conformance/harness/server_under_test.h"
#include "kvc/device/device.h"

namespace kvc::conformance {

RunSettings settings_of(const RunOptions& options);

inline constexpr const char* kDeviceNamePrefix = "kvconform";  // of what the host device makes

// "host", "cuda" or "none", which is null.
std::unique_ptr<Device> device_of(const std::string& name);

// --target, --start, or the kvserver beside our own binary.
ServerUnderTest server_of(const RunOptions& options);

}  // namespace kvc::conformance
