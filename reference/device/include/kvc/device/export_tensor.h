// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ExportedTensor: the exporter's side of a registration: how a tensor in a buffer of one's own is
// written on the wire. A plain value and pure functions; nothing keeps the buffer alive, so keep it
// until the importer is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kvc/device/device.h"
#include "kvc/protocol/values.h"

namespace kvc {

enum class TensorWrapper { kTorch, kRaw };  // CudaIPCWrapper, RawCudaIPCWrapper

struct ExportedTensor {
  std::string dtype;
  std::vector<std::int64_t> shape;       // elements
  std::vector<std::int64_t> stride;      // elements; empty: contiguous
  std::int64_t storage_offset = 0;       // elements
  std::size_t storage_offset_bytes = 0;  // where the tensor's storage begins in the buffer
  TensorWrapper wrapper = TensorWrapper::kTorch;
};

// The strides of a contiguous tensor of this shape.
std::vector<std::int64_t> contiguous_stride(const std::vector<std::int64_t>& shape);

// The wire value. Nothing is checked: a referee also exports tensors that no server may take. The
// storage runs to the buffer's end for kTorch; kRaw says the tensor's own size in bytes.
IpcTensor export_tensor(const Buffer& buffer, const ExportedTensor& tensor,
                        const std::string& device_uuid);

}  // namespace kvc
