// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/cuda_error.h"

namespace kvc::cuda {

bool is_sticky(cudaError_t error) {
  // Later than the oldest toolkit that we build with.
  constexpr int kErrorContained = 226, kErrorTensorMemoryLeak = 721;
  const int number = static_cast<int>(error);
  if (number == kErrorContained || number == kErrorTensorMemoryLeak) return true;
  switch (error) {
    // As the runtime's reference says: "… the process must be terminated and relaunched", and what
    // means that the GPU or the driver is gone.
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorLaunchFailure:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorExternalDevice:
    case cudaErrorMpsClientTerminated:
    case cudaErrorCudartUnloading:
      return true;
    default:
      return false;
  }
}

std::string error_text(std::string_view call, std::string_view place, cudaError_t error) {
  std::string text(call);
  if (!place.empty()) text += " " + std::string(place);
  return text + ": " + cudaGetErrorString(error) + " (cudaError " +
         std::to_string(static_cast<int>(error)) + ")";
}

}  // namespace kvc::cuda
