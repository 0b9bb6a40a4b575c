// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "kvc/device/layout.h"

namespace kvc {
namespace {

constexpr std::size_t kBufferBytes = 4096;
constexpr std::uint64_t kU64Max = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kI64Max = std::numeric_limits<std::int64_t>::max();

// bfloat16 [4, 8] at element 16 of a storage of 1024 bytes that begins at byte 512.
IpcTensor torch_tensor() {
  TorchIpcHandle handle;
  handle.storage_size_bytes = 1024;
  handle.storage_offset_bytes = 512;
  return {handle, "bfloat16", {4, 8}, {8, 1}, 16, "HOST-0"};
}

IpcTensor raw_tensor() {
  return {RawIpcHandle{Bytes(64), 64}, "bfloat16", {4, 8}, {8, 1}, 0, "HOST-0"};
}

TEST(TensorDesc, AddsBothOffsets) {
  const Result<TensorDesc> desc = tensor_desc(torch_tensor(), kBufferBytes);
  ASSERT_TRUE(desc.ok()) << desc.error().text();
  EXPECT_EQ(desc->dtype, "bfloat16");
  EXPECT_EQ(desc->element_size, 2u);
  EXPECT_EQ(desc->shape, (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(desc->stride, (std::vector<std::int64_t>{8, 1}));
  EXPECT_EQ(desc->storage_offset, 16);
  EXPECT_EQ(desc->base_offset_bytes, 512u + 32u);
  EXPECT_EQ(desc->available_bytes, 1024u - 32u);
}

TEST(TensorDesc, ReadsTheRawWrapper) {
  const Result<TensorDesc> desc = tensor_desc(raw_tensor(), kBufferBytes);
  ASSERT_TRUE(desc.ok()) << desc.error().text();
  EXPECT_EQ(desc->base_offset_bytes, 0u);
  EXPECT_EQ(desc->available_bytes, 64u);
}

TEST(TensorDesc, MayEndWhereTheStorageEnds) {
  IpcTensor tensor = torch_tensor();
  tensor.storage_offset = (1024 - 64) / 2;
  EXPECT_TRUE(tensor_desc(tensor, kBufferBytes).ok());
  tensor.storage_offset = (1024 - 64) / 2 + 1;
  EXPECT_FALSE(tensor_desc(tensor, kBufferBytes).ok());
}

TEST(TensorDesc, MayHaveNoElements) {
  IpcTensor tensor = torch_tensor();
  tensor.shape = {0, kI64Max};
  tensor.stride = {kI64Max, kI64Max};
  EXPECT_TRUE(tensor_desc(tensor, kBufferBytes).ok());
}

TEST(TensorDesc, IgnoresStridesOfOneElement) {
  IpcTensor tensor = torch_tensor();
  tensor.shape = {1, 8};
  tensor.stride = {kI64Max, 1};
  EXPECT_TRUE(tensor_desc(tensor, kBufferBytes).ok());
  tensor = raw_tensor();
  tensor.shape = {1, 32};
  tensor.stride = {kI64Max, 1};
  EXPECT_TRUE(tensor_desc(tensor, kBufferBytes).ok());
}

struct Refusal {
  const char* what;
  const char* path;
  std::function<void(IpcTensor&)> spoil;
};

TorchIpcHandle& torch_handle(IpcTensor& tensor) { return std::get<TorchIpcHandle>(tensor.handle); }

const Refusal kTorchRefusals[] = {
    {"unknown dtype", "$[3].dtype", [](IpcTensor& t) { t.dtype = "bfloat17"; }},
    {"negative size", "$[3].shape[1]", [](IpcTensor& t) { t.shape[1] = -8; }},
    {"size past i64", "$[3].shape[0]", [](IpcTensor& t) { t.shape[0] = kU64Max; }},
    {"negative stride", "$[3].stride[0]", [](IpcTensor& t) { t.stride[0] = -8; }},
    {"stride past i64", "$[3].stride[1]", [](IpcTensor& t) { t.stride[1] = kU64Max; }},
    {"too few strides", "$[3].stride", [](IpcTensor& t) { t.stride.pop_back(); }},
    {"too many strides", "$[3].stride", [](IpcTensor& t) { t.stride.push_back(1); }},
    {"too many dimensions", "$[3].shape",
     [](IpcTensor& t) { t.shape.assign(9, 1), t.stride.assign(9, 1); }},
    {"size past the storage", "$[3].shape", [](IpcTensor& t) { t.shape[0] = 63; }},
    {"stride past the storage", "$[3].shape", [](IpcTensor& t) { t.stride[0] = 400; }},
    {"product that wraps to little", "$[3].shape",
     [](IpcTensor& t) {
       t.shape = {(1LL << 62) + 1, 2}, t.stride = {4, 1};
     }},
    {"sum that wraps to little", "$[3].shape",
     [](IpcTensor& t) {
       t.shape = {3, 3}, t.stride = {kI64Max, kI64Max};
     }},
    {"bytes that wrap to little", "$[3].shape",
     [](IpcTensor& t) { t.shape = {2}, t.stride = {kI64Max}; }},
    {"negative storage offset", "$[3].storage_offset", [](IpcTensor& t) { t.storage_offset = -1; }},
    {"storage offset past the storage", "$[3].storage_offset",
     [](IpcTensor& t) { t.storage_offset = 513; }},
    {"storage offset that wraps to little", "$[3].storage_offset",
     [](IpcTensor& t) { t.storage_offset = kU64Max / 2 + 17; }},
    {"storage past the buffer", "$[3].handle",
     [](IpcTensor& t) { torch_handle(t).storage_size_bytes = kBufferBytes - 510; }},
    {"storage behind the buffer", "$[3].handle",
     [](IpcTensor& t) { torch_handle(t).storage_offset_bytes = kBufferBytes + 2; }},
    {"storage that wraps into the buffer", "$[3].handle",
     [](IpcTensor& t) { torch_handle(t).storage_offset_bytes = kU64Max - 511; }},
    {"negative storage size", "$[3].handle[2]",
     [](IpcTensor& t) { torch_handle(t).storage_size_bytes = -1; }},
    {"negative storage place", "$[3].handle[3]",
     [](IpcTensor& t) { torch_handle(t).storage_offset_bytes = -512; }},
    {"storage of half an element", "$[3].handle",
     [](IpcTensor& t) { torch_handle(t).storage_size_bytes = 1023; }},
    {"storage at half an element", "$[3].handle",
     [](IpcTensor& t) { torch_handle(t).storage_offset_bytes = 511; }},
};

const Refusal kRawRefusals[] = {
    {"offset", "$[3].storage_offset",
     [](IpcTensor& t) {
       t.storage_offset = 1, t.shape = {2, 8};
     }},
    {"not contiguous", "$[3].stride[1]",
     [](IpcTensor& t) {
       t.stride = {1, 4};
     }},
    {"padded", "$[3].stride[0]",
     [](IpcTensor& t) {
       t.shape = {2, 8}, t.stride = {9, 1};
     }},
    {"less than the allocation", "$[3]._nbytes",
     [](IpcTensor& t) {
       t.shape = {3, 8};
     }},
    {"more than the allocation", "$[3].shape",
     [](IpcTensor& t) {
       t.shape = {5, 8};
     }},
    {"allocation past the buffer", "$[3]._nbytes",
     [](IpcTensor& t) { std::get<RawIpcHandle>(t.handle).nbytes = kBufferBytes + 1; }},
    {"negative allocation", "$[3]._nbytes",
     [](IpcTensor& t) { std::get<RawIpcHandle>(t.handle).nbytes = -64; }},
};

void expect_refused(const IpcTensor& tensor, const Refusal& refusal) {
  SCOPED_TRACE(refusal.what);
  const Result<TensorDesc> desc = tensor_desc(tensor, kBufferBytes, "$[3]");
  ASSERT_FALSE(desc.ok());
  EXPECT_EQ(desc.error().path, refusal.path) << desc.error().text();
  EXPECT_FALSE(desc.error().message.empty());
}

TEST(TensorDesc, RefusesWhatLiesOutsideWithItsPath) {
  for (const Refusal& refusal : kTorchRefusals) {
    IpcTensor tensor = torch_tensor();
    refusal.spoil(tensor);
    expect_refused(tensor, refusal);
  }
}

TEST(TensorDesc, RefusesRawTensorsThatTheRealOneCannotReshape) {
  for (const Refusal& refusal : kRawRefusals) {
    IpcTensor tensor = raw_tensor();
    refusal.spoil(tensor);
    expect_refused(tensor, refusal);
  }
}

}  // namespace
}  // namespace kvc
