// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/device/export_tensor.h"

#include <algorithm>

namespace kvc {
namespace {

// torch writes these two before the cudaIpcMemHandle_t: the version of its form, and 'c' for memory
// of cudaMalloc.
constexpr std::uint8_t kTorchHandleVersion = 1;
constexpr std::uint8_t kTorchHandleCudaMalloc = 'c';

TorchIpcHandle torch_handle(const Buffer& buffer, std::size_t storage_offset_bytes) {
  TorchIpcHandle handle;
  handle.device = 0;
  handle.handle = {kTorchHandleVersion, kTorchHandleCudaMalloc};
  const Bytes memory = buffer.ipc_handle();
  handle.handle.insert(handle.handle.end(), memory.begin(), memory.end());
  handle.storage_size_bytes =
      buffer.size_bytes() - std::min(storage_offset_bytes, buffer.size_bytes());
  handle.storage_offset_bytes = storage_offset_bytes;
  // The reference counter and the event are torch's own, between its processes; nobody reads them
  // here, but their form is kept.
  handle.ref_counter_handle = to_bytes(as_bytes("/torch_none_0"));
  handle.ref_counter_offset = 0;
  handle.event_handle = Bytes(64, 0);
  handle.event_sync_required = false;
  return handle;
}

std::size_t size_in_bytes(const ExportedTensor& tensor) {
  std::size_t size = dtype_size_bytes(tensor.dtype);
  for (const std::int64_t dimension : tensor.shape) size *= static_cast<std::size_t>(dimension);
  return size;
}

}  // namespace

std::vector<std::int64_t> contiguous_stride(const std::vector<std::int64_t>& shape) {
  // Unsigned, as the shapes of a referee may overflow. torch takes an empty dimension as one.
  std::vector<std::int64_t> stride(shape.size());
  std::uint64_t tight = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    stride[i] = static_cast<std::int64_t>(tight);
    tight *= static_cast<std::uint64_t>(std::max<std::int64_t>(shape[i], 1));
  }
  return stride;
}

IpcTensor export_tensor(const Buffer& buffer, const ExportedTensor& tensor,
                        const std::string& device_uuid) {
  IpcTensor wire;
  if (tensor.wrapper == TensorWrapper::kTorch)
    wire.handle = torch_handle(buffer, tensor.storage_offset_bytes);
  else
    wire.handle = RawIpcHandle{buffer.ipc_handle(), size_in_bytes(tensor)};
  wire.dtype = tensor.dtype;
  wire.shape.assign(tensor.shape.begin(), tensor.shape.end());
  const std::vector<std::int64_t> stride =
      tensor.stride.empty() ? contiguous_stride(tensor.shape) : tensor.stride;
  wire.stride.assign(stride.begin(), stride.end());
  wire.storage_offset = tensor.storage_offset;
  wire.device_uuid = device_uuid;
  return wire;
}

}  // namespace kvc
