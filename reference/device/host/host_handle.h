// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The 64 bytes that stand for a CUDA IPC handle on the host device: eight that say what it is, and
// a shm name padded with NUL.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/result.h"

namespace kvc {

inline constexpr std::size_t kIpcHandleBytes = 64;
inline constexpr std::string_view kMemoryMagic = "KVHOSTM1";
inline constexpr std::string_view kEventMagic = "KVHOSTE1";

// REQUIRES: the name fits.
Bytes write_host_handle(std::string_view magic, std::string_view name);

// The name in a handle: '/' and then one to 55 bytes, none of them '/' or NUL, and nothing behind
// it. A name that goes elsewhere than /dev/shm is refused here.
Result<std::string> read_host_handle(ByteView handle, std::string_view magic);

}  // namespace kvc
