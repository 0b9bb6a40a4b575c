// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The bytes of a buffer, from the host, on whatever device it is: for an exporter that fills and
// compares its own memory. Each call is done when it returns. Throws DeviceError. REQUIRES: the
// range lies in the buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kvc/device/device.h"

namespace kvc {

// Whether Buffer::address() may be used on the host.
bool is_on_host(const Buffer& buffer);

void read_buffer(const Buffer& buffer, std::size_t offset, std::span<std::uint8_t> out);
void write_buffer(Buffer& buffer, std::size_t offset, ByteView bytes);

}  // namespace kvc
