// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/device/buffer_access.h"

#include <algorithm>

#include "device/remote_memory.h"
#include "kvc/protocol/assert.h"

namespace kvc {
namespace {

void require_inside(const Buffer& buffer, std::size_t offset, std::size_t size) {
  KVC_ASSERT(offset <= buffer.size_bytes() && size <= buffer.size_bytes() - offset);
}

}  // namespace

bool is_on_host(const Buffer& buffer) {
  return dynamic_cast<const RemoteMemory*>(&buffer) == nullptr;
}

void read_buffer(const Buffer& buffer, std::size_t offset, std::span<std::uint8_t> out) {
  require_inside(buffer, offset, out.size());
  if (const auto* const remote = dynamic_cast<const RemoteMemory*>(&buffer))
    remote->read(offset, out);
  else
    std::copy_n(buffer.address() + offset, out.size(), out.data());
}

void write_buffer(Buffer& buffer, std::size_t offset, ByteView bytes) {
  require_inside(buffer, offset, bytes.size());
  if (auto* const remote = dynamic_cast<RemoteMemory*>(&buffer))
    remote->write(offset, bytes);
  else
    std::copy_n(bytes.data(), bytes.size(), buffer.address() + offset);
}

}  // namespace kvc
