// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// In place of the CUDA device, in a build without a toolkit.
#include "device/manual_events.h"
#include "kvc/device/cuda_device.h"
#include "kvc/protocol/assert.h"

namespace kvc {

CudaSupport cuda_support() {
  return {false, "this build has no CUDA (CMake option KVC_CUDA, and nvcc)"};
}

std::unique_ptr<Device> create_cuda_device(const CudaDeviceOptions&) {
  throw DeviceError("CUDA: " + cuda_support().reason);
}

std::unique_ptr<ManualEvent::Impl> create_cuda_manual_event(Device&) {
  KVC_ASSERT(false);  // nobody has a CUDA device
}

}  // namespace kvc
