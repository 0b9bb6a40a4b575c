// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <utility>

#include "device/checked.h"
#include "kvc/device/layout.h"
#include "kvc/protocol/limits.h"

namespace kvc {
namespace {

Error refuse(std::string_view path, const std::string& field, std::string message) {
  return {Errc::kInvalidArgument, std::string(path) + field, std::move(message)};
}

// A size or stride as the tensor says it: torch knows no negative ones.
Result<std::vector<std::int64_t>> read_sizes(const std::vector<Int>& values, std::string_view path,
                                             const std::string& field) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(values.size());
  for (const Int& value : values) {
    const auto size = value.as_i64();
    if (!size || *size < 0)
      return refuse(path, field + "[" + std::to_string(sizes.size()) + "]",
                    "expected 0 to 2^63-1, got " + value.to_string());
    sizes.push_back(*size);
  }
  return sizes;
}

Result<std::size_t> read_size(const Int& value, std::string_view path, const std::string& field) {
  const auto size = value.as_u64();
  if (!size) return refuse(path, field, "expected 0 or more, got " + value.to_string());
  return static_cast<std::size_t>(*size);
}

// The part of the buffer that is the tensor's storage, in bytes.
struct Storage {
  std::size_t offset = 0;
  std::size_t size = 0;
};

Result<Storage> read_storage(const IpcTensor& tensor, std::size_t buffer_bytes,
                             std::string_view path) {
  if (const auto* raw = std::get_if<RawIpcHandle>(&tensor.handle)) {
    const Result<std::size_t> size = read_size(raw->nbytes, path, "._nbytes");
    if (!size) return size.error();
    if (*size > buffer_bytes)
      return refuse(
          path, "._nbytes",
          std::to_string(*size) + " bytes, but the buffer has " + std::to_string(buffer_bytes));
    return Storage{0, *size};
  }
  const auto& torch = std::get<TorchIpcHandle>(tensor.handle);
  const Result<std::size_t> size = read_size(torch.storage_size_bytes, path, ".handle[2]");
  if (!size) return size.error();
  const Result<std::size_t> offset = read_size(torch.storage_offset_bytes, path, ".handle[3]");
  if (!offset) return offset.error();
  if (*offset > buffer_bytes || *size > buffer_bytes - *offset)
    return refuse(path, ".handle",
                  "storage of " + std::to_string(*size) + " bytes at " + std::to_string(*offset) +
                      ", but the buffer has " + std::to_string(buffer_bytes));
  return Storage{*offset, *size};
}

// Bytes from element 0 to past the last element; 0 for a tensor without elements.
CheckedSize extent_bytes(const TensorDesc& desc) {
  CheckedSize last(0);
  for (std::size_t i = 0; i < desc.shape.size(); ++i) {
    if (desc.shape[i] == 0) return CheckedSize(0);
    CheckedSize step(static_cast<std::size_t>(desc.shape[i] - 1));
    step *= static_cast<std::size_t>(desc.stride[i]);
    last += step;
  }
  last += 1;
  last *= desc.element_size;
  return last;
}

// What RawCudaIPCWrapper.to_tensor demands: it ignores stride and offset, and reshapes the whole
// allocation. Strides of dimensions of one element say nothing.
Result<void> check_raw(const TensorDesc& desc, const IpcTensor& tensor, std::size_t storage_bytes,
                       std::string_view path) {
  if (tensor.storage_offset != Int(0))
    return refuse(path, ".storage_offset",
                  "expected 0 in a RawCudaIPCWrapper, got " + tensor.storage_offset.to_string());
  CheckedSize tight(1);
  for (std::size_t i = desc.shape.size(); i-- > 0;) {
    if (desc.shape[i] > 1 &&
        (!tight.ok() || tight.value() != static_cast<std::size_t>(desc.stride[i])))
      return refuse(
          path, ".stride[" + std::to_string(i) + "]",
          "a RawCudaIPCWrapper must be contiguous, got " + std::to_string(desc.stride[i]));
    tight *= static_cast<std::size_t>(desc.shape[i]);
  }
  tight *= desc.element_size;
  if (!tight.ok() || tight.value() != storage_bytes)
    return refuse(path, "._nbytes",
                  "a RawCudaIPCWrapper's shape must take all of its " +
                      std::to_string(storage_bytes) + " bytes");
  return {};
}

}  // namespace

Result<TensorDesc> tensor_desc(const IpcTensor& tensor, std::size_t buffer_bytes,
                               std::string_view path) {
  TensorDesc desc;
  desc.dtype = canonical_dtype(tensor.dtype);
  desc.element_size = dtype_size_bytes(desc.dtype);
  if (desc.element_size == 0) return refuse(path, ".dtype", "unknown dtype '" + desc.dtype + "'");

  Result<std::vector<std::int64_t>> shape = read_sizes(tensor.shape, path, ".shape");
  if (!shape) return shape.error();
  desc.shape = std::move(shape).value();
  Result<std::vector<std::int64_t>> stride = read_sizes(tensor.stride, path, ".stride");
  if (!stride) return stride.error();
  desc.stride = std::move(stride).value();
  if (desc.shape.size() > limits::kTensorRankMax)
    return refuse(path, ".shape",
                  "at most " + std::to_string(limits::kTensorRankMax) + " dimensions, got " +
                      std::to_string(desc.shape.size()));
  if (desc.shape.size() != desc.stride.size())
    return refuse(path, ".stride",
                  "expected " + std::to_string(desc.shape.size()) + " of them, as in shape, got " +
                      std::to_string(desc.stride.size()));

  const Result<Storage> storage = read_storage(tensor, buffer_bytes, path);
  if (!storage) return storage.error();
  if (storage->size % desc.element_size != 0 || storage->offset % desc.element_size != 0)
    return refuse(path, ".handle",
                  "storage of " + std::to_string(storage->size) + " bytes at " +
                      std::to_string(storage->offset) + " is not whole elements of " + desc.dtype);

  const Result<std::size_t> first = read_size(tensor.storage_offset, path, ".storage_offset");
  if (!first) return first.error();
  CheckedSize offset_bytes(*first);
  offset_bytes *= desc.element_size;
  if (!offset_bytes.ok() || offset_bytes.value() > storage->size)
    return refuse(path, ".storage_offset",
                  std::to_string(*first) + " elements, past the storage's " +
                      std::to_string(storage->size) + " bytes");
  desc.storage_offset = static_cast<std::int64_t>(*first);
  desc.base_offset_bytes = storage->offset + offset_bytes.value();
  desc.available_bytes = storage->size - offset_bytes.value();

  const CheckedSize extent = extent_bytes(desc);
  if (!extent.ok() || extent.value() > desc.available_bytes)
    return refuse(path, ".shape",
                  "reaches past the storage: " +
                      (extent.ok() ? std::to_string(extent.value()) + " bytes needed, "
                                   : std::string("more than 2^64 bytes needed, ")) +
                      std::to_string(desc.available_bytes) + " there");
  if (std::holds_alternative<RawIpcHandle>(tensor.handle)) {
    const Result<void> raw = check_raw(desc, tensor, storage->size, path);
    if (!raw) return raw.error();
  }
  return desc;
}

}  // namespace kvc
