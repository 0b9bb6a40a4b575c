// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/host/host_handle.h"

#include <algorithm>

#include "kvc/protocol/assert.h"

namespace kvc {
namespace {

Error refuse(std::string message) { return {Errc::kBadValue, "", std::move(message)}; }

}  // namespace

Bytes write_host_handle(std::string_view magic, std::string_view name) {
  KVC_ASSERT(magic.size() + name.size() <= kIpcHandleBytes);
  Bytes handle = to_bytes(as_bytes(magic));
  const ByteView text = as_bytes(name);
  handle.insert(handle.end(), text.begin(), text.end());
  handle.resize(kIpcHandleBytes, 0);
  return handle;
}

Result<std::string> read_host_handle(ByteView handle, std::string_view magic) {
  if (handle.size() != kIpcHandleBytes)
    return refuse("expected a handle of " + std::to_string(kIpcHandleBytes) + " bytes, got " +
                  std::to_string(handle.size()));
  std::string_view text = as_text(handle);
  if (!text.starts_with(magic))
    return refuse("expected a handle of the host device, which begins with " + std::string(magic));
  text.remove_prefix(magic.size());
  const std::string_view name = text.substr(0, text.find('\0'));
  const std::string_view padding = text.substr(name.size());
  if (std::any_of(padding.begin(), padding.end(), [](char c) { return c != '\0'; }))
    return refuse("bytes behind the NUL that ends the shm name");
  if (!name.starts_with('/')) return refuse("the shm name must begin with '/'");
  if (name.find('/', 1) != name.npos) return refuse("the shm name must hold no second '/'");
  if (name == "/" || name == "/." || name == "/..") return refuse("the shm name is empty");
  return std::string(name);
}

}  // namespace kvc
