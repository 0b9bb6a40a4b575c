// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Goal: the errors after which CUDA goes on are told from those after which it does not, as a
// client must not be able to end the device with a garbage handle.
#include "device/cuda/cuda_error.h"

#include <gtest/gtest.h>

namespace kvc::cuda {
namespace {

TEST(CudaError, EndsTheDeviceOnlyWhenCudaCannotGoOn) {
  for (const cudaError_t error : {cudaErrorIllegalAddress, cudaErrorLaunchFailure,
                                  cudaErrorMisalignedAddress, cudaErrorECCUncorrectable})
    EXPECT_TRUE(is_sticky(error)) << cudaGetErrorName(error);
  // What cudaIpcOpenMemHandle, cudaIpcOpenEventHandle, an allocation and a launch may answer.
  for (const cudaError_t error :
       {cudaSuccess, cudaErrorNotReady, cudaErrorInvalidValue, cudaErrorInvalidResourceHandle,
        cudaErrorMapBufferObjectFailed, cudaErrorTooManyPeers, cudaErrorNotSupported,
        cudaErrorMemoryAllocation, cudaErrorDeviceUninitialized, cudaErrorInvalidConfiguration,
        cudaErrorHostMemoryAlreadyRegistered, cudaErrorInsufficientDriver, cudaErrorUnknown})
    EXPECT_FALSE(is_sticky(error)) << cudaGetErrorName(error);
}

TEST(CudaError, SaysCallPlaceAndReason) {
  EXPECT_EQ(error_text("cudaMalloc", "of 5 bytes", cudaErrorMemoryAllocation),
            "cudaMalloc of 5 bytes: out of memory (cudaError 2)");
  EXPECT_EQ(error_text("cudaEventQuery", "", cudaErrorInvalidValue),
            "cudaEventQuery: invalid argument (cudaError 1)");
}

}  // namespace
}  // namespace kvc::cuda
