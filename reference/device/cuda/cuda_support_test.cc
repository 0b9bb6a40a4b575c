// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: a build with or without CUDA, on a machine with or without a driver, says what it has, and
// never crashes for want of it.
#include "kvc/device/cuda_device.h"

#include <gtest/gtest.h>

#include <string>

namespace kvc {
namespace {

TEST(CudaSupport, SaysWhatThereIsOrWhyNot) {
  const CudaSupport support = cuda_support();
  EXPECT_FALSE(support.reason.empty());
  const CudaSupport again = cuda_support();
  EXPECT_EQ(again.available, support.available);
  EXPECT_EQ(again.reason, support.reason);
}

TEST(CudaSupport, DeviceIsMadeOnlyWhereItIsAvailable) {
  const CudaSupport support = cuda_support();
  if (support.available) {
    EXPECT_EQ(create_cuda_device({})->name(), "cuda");
    return;
  }
  try {
    create_cuda_device({});
    FAIL() << "a device without " << support.reason;
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find(support.reason), std::string::npos) << error.what();
  }
}

TEST(CudaSupport, UnknownUuidIsNoGpu) {
  CudaDeviceOptions options;
  options.device_uuid = "00000000-0000-0000-0000-000000000000";
  EXPECT_THROW(create_cuda_device(options), DeviceError);
}

}  // namespace
}  // namespace kvc
