// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The kernel's twin on the CPU: the same launch, the same loop, the same shares for `num_threads`
// threads a plane, one after the other. For tests where no GPU is, and to compare with where one
// is. All addresses of the launch are host memory.
#pragma once

#include <cstdint>

#include "device/cuda/transfer_index.h"
#include "kvc/device/device.h"

namespace kvc::cuda {

void run_transfer_twin(const TransferLaunch& launch, CopyDirection direction,
                       std::uint32_t num_threads);

}  // namespace kvc::cuda
