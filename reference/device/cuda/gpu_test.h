// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What the tests that need a GPU share. Each is skipped, by name and reason, where none is.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <memory>

#include "device/test_support.h"
#include "kvc/device/cuda_device.h"

namespace kvc::cuda {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const CudaSupport support = cuda_support();
    if (!support.available) GTEST_SKIP() << "needs a GPU: " << support.reason;
    device_ = create_cuda_device({"", [](const std::string& text) { ADD_FAILURE() << text; }});
  }

  static void upload(const Buffer& buffer, const Bytes& bytes) {
    ASSERT_EQ(cudaMemcpy(buffer.address(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  static Bytes download(const Buffer& buffer, std::size_t size_bytes) {
    Bytes bytes(size_bytes);
    EXPECT_EQ(cudaMemcpy(bytes.data(), buffer.address(), size_bytes, cudaMemcpyDeviceToHost),
              cudaSuccess);
    return bytes;
  }

  std::unique_ptr<Device> device_;
};

}  // namespace kvc::cuda
