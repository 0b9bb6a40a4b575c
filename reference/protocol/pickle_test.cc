// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/pickle.h"

#include <gtest/gtest.h>

#include "kvc/protocol/limits.h"

namespace kvc {
namespace {

IpcTensor torch_tensor() {
  TorchIpcHandle handle;
  handle.device = 1;
  handle.handle = Bytes(66, 0x11);
  handle.handle[0] = 1;
  handle.handle[1] = 'c';
  handle.storage_size_bytes = std::uint64_t{1} << 33;
  handle.event_handle = Bytes(64, 0x22);
  handle.event_sync_required = true;
  IpcTensor tensor;
  tensor.handle = handle;
  tensor.dtype = "bfloat16";
  tensor.shape = {2, 4, 16, 2, 8};
  tensor.stride = {1024, 256, 16, 8, 1};
  tensor.storage_offset = 300;
  tensor.device_uuid = "GPU-1";
  return tensor;
}

Bytes pickle_with(std::string_view body) {
  Bytes pickle = {0x80, 4};
  pickle.insert(pickle.end(), body.begin(), body.end());
  return pickle;
}

Error error_of(ByteView pickle) {
  const Result<IpcTensor> tensor = read_pickle(pickle);
  EXPECT_FALSE(tensor.ok());
  return tensor.ok() ? Error{} : tensor.error();
}

TEST(Pickle, WritesWhatItReads) {
  IpcTensor tensor = torch_tensor();
  for (const Int edge :
       {Int(0), Int(255), Int(256), Int(65535), Int(65536), Int(0x7fffffff), Int(0x80000000U),
        Int(-1), Int(INT32_MIN), Int(INT64_MIN), Int(INT64_MAX), Int(UINT64_MAX)}) {
    tensor.storage_offset = edge;
    const Result<IpcTensor> again = read_pickle(write_pickle(tensor));
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(*again, tensor);
  }
  tensor.handle = RawIpcHandle{Bytes(64, 0x33), 4096};
  EXPECT_EQ(read_pickle(write_pickle(tensor)).value(), tensor);
}

TEST(Pickle, RefusesEveryPrefix) {
  const Bytes pickle = write_pickle(torch_tensor());
  for (std::size_t size = 0; size < pickle.size(); ++size) {
    const Bytes cut(pickle.begin(), pickle.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(read_pickle(cut).ok()) << size;
  }
}

TEST(Pickle, RefusesAGlobalThatIsNotOnTheList) {
  const Error error = error_of(pickle_with("cposix\nsystem\n(Vtrue\ntR."));
  EXPECT_EQ(error.code, Errc::kForbidden);
  EXPECT_EQ(error.text(), "$: global posix.system is not allowed");
}

TEST(Pickle, RefusesACallOfAnAllowedGlobal) {
  EXPECT_EQ(
      error_of(pickle_with("clmcache.v1.multiprocess.custom_types\nCudaIPCWrapper\n)R.")).code,
      Errc::kForbidden);
  EXPECT_EQ(error_of(pickle_with("c_codecs\nencode\n)R.")).code, Errc::kForbidden);
}

TEST(Pickle, RefusesOpcodesThatNoWrapperNeeds) {
  EXPECT_EQ(error_of(pickle_with("]q.")).text(), "$: opcode 5d at byte 2 is not allowed");
}

TEST(Pickle, RefusesWhatIsOverALimit) {
  EXPECT_EQ(error_of(Bytes(limits::kPickleBytesMax + 1, 'N')).code, Errc::kLimit);
  EXPECT_EQ(error_of(pickle_with(std::string(limits::kPickleStackMax + 1, 'N'))).code,
            Errc::kLimit);
  std::string nested = ")";
  nested.append(limits::kPickleDepthMax + 1, '\x85');
  EXPECT_EQ(error_of(pickle_with(nested)).code, Errc::kLimit);
  EXPECT_EQ(error_of(pickle_with(std::string("Nr\xff\xff\xff\x7f", 6))).code, Errc::kLimit);
  IpcTensor tensor = torch_tensor();
  tensor.shape.assign(limits::kTensorRankMax + 1, 1);
  tensor.stride = tensor.shape;
  EXPECT_EQ(error_of(write_pickle(tensor)).text(), "$.shape: more than 8 dimensions");
}

// The object's dict, as a protocol 4 pickle with one attribute.
Bytes wrapper_with(std::string_view name, std::string_view value) {
  std::string body = "clmcache.v1.multiprocess.custom_types\nCudaIPCWrapper\n)\x81}(\x8c";
  body += static_cast<char>(name.size());
  body += name;
  body += value;
  return pickle_with(body + "ub.");
}

TEST(Pickle, ErrorsNameTheAttribute) {
  EXPECT_EQ(error_of(wrapper_with("x", "N")).text(), "$: missing attribute handle");
  EXPECT_EQ(error_of(wrapper_with("handle", "N")).text(), "$.handle: expected tuple, got NoneType");
  EXPECT_EQ(error_of(wrapper_with("handle", ")")).text(),
            "$.handle: expected tuple of length 8, got 0");
  EXPECT_EQ(error_of(wrapper_with("handle", "(K\x01\x8c\x01xNNNNNNt")).text(),
            "$.handle[1]: expected bytes, got str");
  IpcTensor tensor = torch_tensor();
  tensor.stride.pop_back();
  EXPECT_EQ(error_of(write_pickle(tensor)).text(), "$.stride: expected 5 strides, got 4");
}

TEST(MemoryHandle, IsBehindVersionAndTypeOrBare) {
  IpcTensor tensor = torch_tensor();
  auto& handle = std::get<TorchIpcHandle>(tensor.handle).handle;
  for (std::uint8_t version = 1; version <= 3; ++version) {
    handle[0] = version;
    const Result<ByteView> found = memory_handle(tensor);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(to_bytes(*found), Bytes(64, 0x11));
  }
  handle.assign(64, 0x11);
  EXPECT_EQ(memory_handle(tensor)->size(), 64U);
  tensor.handle = RawIpcHandle{Bytes(64, 0x33), 4096};
  EXPECT_EQ(to_bytes(memory_handle(tensor).value()), Bytes(64, 0x33));
}

TEST(MemoryHandle, RefusesOtherShapesWithAReason) {
  IpcTensor tensor = torch_tensor();
  auto& handle = std::get<TorchIpcHandle>(tensor.handle).handle;
  handle[1] = 'e';
  EXPECT_EQ(memory_handle(tensor).error().code, Errc::kUnsupported);
  handle[1] = 'z';
  EXPECT_EQ(memory_handle(tensor).error().text(), "$.handle[1]: unknown type byte 122");
  handle[1] = 'c';
  handle[0] = 4;
  EXPECT_EQ(memory_handle(tensor).error().text(), "$.handle[1]: unknown version 4");
  handle.resize(10);
  EXPECT_EQ(memory_handle(tensor).error().code, Errc::kBadValue);
  tensor.handle = RawIpcHandle{Bytes(63), 1};
  EXPECT_EQ(memory_handle(tensor).error().code, Errc::kBadValue);
}

}  // namespace
}  // namespace kvc
