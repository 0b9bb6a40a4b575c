// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/device/open_tensor.h"

#include <gtest/gtest.h>

#include "device/test_support.h"
#include "kvc/device/export_tensor.h"
#include "kvc/device/host_device.h"
#include "kvc/protocol/pickle.h"

namespace kvc {
namespace {

class OpenTensor : public ::testing::Test {
 protected:
  ExportedTensor exported(TensorWrapper wrapper) const {
    ExportedTensor tensor;
    tensor.dtype = "bfloat16";
    tensor.shape = {2, 4, 16, 2, 8};
    tensor.wrapper = wrapper;
    return tensor;
  }

  std::unique_ptr<Device> engine_ = create_host_device(test::shm_prefix() + "a");
  std::unique_ptr<Device> server_ = create_host_device(test::shm_prefix() + "b");
  // More than the tensor needs.
  std::shared_ptr<Buffer> buffer_ = engine_->create_buffer(3 * 4096);
};

TEST_F(OpenTensor, ReadsWhatTheExporterWrote) {
  for (const TensorWrapper wrapper : {TensorWrapper::kTorch, TensorWrapper::kRaw}) {
    const IpcTensor wire = export_tensor(*buffer_, exported(wrapper), engine_->own_uuid());
    const Result<OpenedTensor> opened = open_tensor(*server_, wire, "$[0]");
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    EXPECT_EQ(opened->buffer->size_bytes(), buffer_->size_bytes());
    EXPECT_EQ(opened->desc.shape, exported(wrapper).shape);
    EXPECT_EQ(opened->desc.base_offset_bytes, 0u);
    buffer_->address()[4097] = 42;
    EXPECT_EQ(opened->buffer->address()[4097], 42) << "the same memory";
  }
}

TEST_F(OpenTensor, CrossesThePickle) {
  for (const TensorWrapper wrapper : {TensorWrapper::kTorch, TensorWrapper::kRaw}) {
    const IpcTensor wire = export_tensor(*buffer_, exported(wrapper), engine_->own_uuid());
    const Result<IpcTensor> read = read_pickle(write_pickle(wire));
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_EQ(*read, wire);
  }
}

TEST_F(OpenTensor, FindsStorageInsideABuffer) {
  ExportedTensor tensor = exported(TensorWrapper::kTorch);
  tensor.storage_offset_bytes = 4096;
  tensor.storage_offset = 8;
  const Result<OpenedTensor> opened =
      open_tensor(*server_, export_tensor(*buffer_, tensor, engine_->own_uuid()), "$[0]");
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_EQ(opened->desc.base_offset_bytes, 4096u + 16u);
  EXPECT_EQ(opened->desc.available_bytes, 2u * 4096u - 16u);
}

TEST_F(OpenTensor, OpensAllOrNothing) {
  IpcTensor wire = export_tensor(*buffer_, exported(TensorWrapper::kTorch), engine_->own_uuid());
  const Result<std::shared_ptr<const BlockSpace>> space =
      open_block_space(*server_, {wire, wire, wire}, EngineType::kVllm, {}, 64);
  ASSERT_TRUE(space.ok()) << space.error().text();
  EXPECT_EQ((*space)->layout.num_layers, 3u);
  ASSERT_EQ((*space)->buffers.size(), 3u);
  EXPECT_EQ((*space)->buffers[0]->address(), (*space)->buffers[2]->address()) << "mapped once";

  IpcTensor foreign = wire;
  foreign.device_uuid = "GPU-4f6e";
  const auto refused = open_block_space(*server_, {wire, foreign}, EngineType::kVllm, {}, 64);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().path, "$[1].device_uuid");
  EXPECT_FALSE(open_block_space(*server_, {}, EngineType::kVllm, {}, 64).ok());
}

TEST_F(OpenTensor, SaysWhyItCannot) {
  const IpcTensor wire =
      export_tensor(*buffer_, exported(TensorWrapper::kTorch), engine_->own_uuid());
  IpcTensor gone = wire;
  std::get<TorchIpcHandle>(gone.handle).handle[20] ^= 1;
  const Result<OpenedTensor> missing = open_tensor(*server_, gone, "$[5]");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().path, "$[5].handle");
  EXPECT_EQ(missing.error().code, Errc::kNotFound);

  IpcTensor expandable = wire;
  std::get<TorchIpcHandle>(expandable.handle).handle[1] = 'e';
  const Result<OpenedTensor> segment = open_tensor(*server_, expandable, "$[5]");
  ASSERT_FALSE(segment.ok());
  EXPECT_TRUE(segment.error().path.starts_with("$[5].handle")) << segment.error().text();
  EXPECT_EQ(segment.error().code, Errc::kUnsupported);
}

}  // namespace
}  // namespace kvc
