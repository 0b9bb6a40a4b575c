// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/pickle.h"

namespace kvc {
namespace {

constexpr std::size_t kHandleBytes = 64;  // cudaIpcMemHandle_t
constexpr std::size_t kPrefixBytes = 2;   // torch's version byte and type byte
constexpr std::uint8_t kVersionMax = 3;   // torch 2.13
constexpr std::uint8_t kCudaMalloc = 'c';
constexpr std::uint8_t kExpandableSegment = 'e';

Error bad_handle(Errc code, std::string message) {
  return {code, "$.handle[1]", std::move(message)};
}

}  // namespace

Result<ByteView> memory_handle(const IpcTensor& tensor) {
  if (const auto* raw = std::get_if<RawIpcHandle>(&tensor.handle)) {
    if (raw->handle.size() == kHandleBytes) return ByteView(raw->handle);
    return Error{Errc::kBadValue, "$._ipc_handle_reserved",
                 "a CUDA memory handle has 64 bytes, got " + std::to_string(raw->handle.size())};
  }
  const ByteView handle = std::get<TorchIpcHandle>(tensor.handle).handle;
  if (handle.size() == kHandleBytes) return handle;
  if (handle.size() >= kPrefixBytes && handle[1] == kExpandableSegment && handle[0] >= 1 &&
      handle[0] <= kVersionMax) {
    return bad_handle(Errc::kUnsupported,
                      "an expandable segment has no CUDA memory handle; set "
                      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False in the engine");
  }
  if (handle.size() != kPrefixBytes + kHandleBytes) {
    return bad_handle(Errc::kBadValue, "a handle has 66 bytes, or the bare 64, got " +
                                           std::to_string(handle.size()));
  }
  if (handle[0] < 1 || handle[0] > kVersionMax) {
    return bad_handle(Errc::kBadValue, "unknown version " + std::to_string(handle[0]));
  }
  if (handle[1] != kCudaMalloc) {
    return bad_handle(Errc::kBadValue, "unknown type byte " + std::to_string(handle[1]));
  }
  return handle.subspan(kPrefixBytes);
}

}  // namespace kvc
