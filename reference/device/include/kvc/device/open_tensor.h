// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// OpenedTensor, open_block_space: from the wire form of a registration to buffers that a stream can
// copy. All or nothing: when one tensor is refused, what was opened before it is closed again.
// Errors are Results with the tensor's path, "$[3].handle: …". Any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "kvc/device/device.h"
#include "kvc/device/layout.h"

namespace kvc {

struct OpenedTensor {
  std::shared_ptr<Buffer> buffer;
  TensorDesc desc;
};

// Opens one tensor: its device UUID must be one of the device's, its handle must open, and all its
// elements must lie in the memory behind it.
Result<OpenedTensor> open_tensor(Device& device, const IpcTensor& tensor, std::string_view path);

// Opens all tensors of a registration and finds their layout.
Result<std::shared_ptr<const BlockSpace>> open_block_space(Device& device, const KVCache& kv_cache,
                                                           EngineType engine,
                                                           const LayoutHints& hints,
                                                           std::size_t chunk_size);

// The same for a blend buffer; see blend_layout().
Result<std::shared_ptr<const BlockSpace>> open_blend_space(Device& device, const KVCache& kv_cache,
                                                           std::size_t chunk_size);

}  // namespace kvc
