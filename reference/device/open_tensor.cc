// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/device/open_tensor.h"

#include <string>
#include <utility>

#include "kvc/protocol/pickle.h"

namespace kvc {
namespace {

// The same error, said of a tensor: "$.handle[1]" of the tensor "$[3]" is "$[3].handle[1]".
Error under(std::string_view path, Error error) {
  const bool rooted = error.path.starts_with("$");
  error.path = std::string(path) + (rooted ? error.path.substr(1) : error.path);
  return error;
}

// `find_layout` takes the tensors' descriptions and answers a Result<Layout>.
template <class FindLayout>
Result<std::shared_ptr<const BlockSpace>> open_space(Device& device, const KVCache& kv_cache,
                                                     FindLayout find_layout) {
  auto space = std::make_shared<BlockSpace>();
  std::vector<TensorDesc> tensors;
  for (std::size_t i = 0; i < kv_cache.size(); ++i) {
    Result<OpenedTensor> opened = open_tensor(device, kv_cache[i], "$[" + std::to_string(i) + "]");
    if (!opened) return opened.error();
    space->buffers.push_back(std::move(opened->buffer));
    tensors.push_back(std::move(opened->desc));
  }
  Result<Layout> layout = find_layout(std::move(tensors));
  if (!layout) return layout.error();
  space->layout = std::move(layout).value();
  return std::shared_ptr<const BlockSpace>(std::move(space));
}

}  // namespace

Result<OpenedTensor> open_tensor(Device& device, const IpcTensor& tensor, std::string_view path) {
  if (!device.accepts_uuid(tensor.device_uuid))
    return Error{Errc::kInvalidArgument, std::string(path) + ".device_uuid",
                 "'" + tensor.device_uuid + "' is not of device " + std::string(device.name())};
  const Result<ByteView> handle = memory_handle(tensor);
  if (!handle) return under(path, handle.error());
  Result<std::shared_ptr<Buffer>> buffer = device.open_buffer(*handle);
  if (!buffer)
    return Error{buffer.error().code, std::string(path) + ".handle", buffer.error().text()};
  Result<TensorDesc> desc = tensor_desc(tensor, (*buffer)->size_bytes(), path);
  if (!desc) return desc.error();
  return OpenedTensor{std::move(buffer).value(), std::move(desc).value()};
}

Result<std::shared_ptr<const BlockSpace>> open_block_space(Device& device, const KVCache& kv_cache,
                                                           EngineType engine,
                                                           const LayoutHints& hints,
                                                           std::size_t chunk_size) {
  return open_space(device, kv_cache, [&](std::vector<TensorDesc> tensors) {
    return discover_layout(std::move(tensors), engine, hints, chunk_size);
  });
}

Result<std::shared_ptr<const BlockSpace>> open_blend_space(Device& device, const KVCache& kv_cache,
                                                           std::size_t chunk_size) {
  return open_space(device, kv_cache, [&](std::vector<TensorDesc> tensors) {
    return blend_layout(std::move(tensors), chunk_size);
  });
}

}  // namespace kvc
