// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The kernel of a TransferLaunch. Why a kernel, and not cub::DeviceMemcpy or cudaMemcpyBatchAsync:
// a chunk of 256 tokens of 32 layers with 8 heads of 128 bfloat16 is 32 MiB. In NHD it is 1024 runs
// of 32 KiB, in HND 131,072 runs of 256 bytes. A batch of runs wants a descriptor of 24 bytes for
// each (3 MiB to make and upload in HND), and copies of 256 bytes that cross the bus one by one
// leave it idle. Here a chunk is one launch whose argument holds the block ids: it reads and writes
// 32 MiB of GPU memory, about 2 % of the time that 32 MiB take on the bus, and the bus then sees
// one copy of 32 MiB. By arithmetic, not by measurement.
#pragma once

#include <cuda_runtime_api.h>

#include "device/cuda/transfer_index.h"

namespace kvc::cuda {

// Queues the launch; what it answers is the launch's own error.
cudaError_t launch_transfer(const TransferLaunch& launch, bool to_object, cudaStream_t stream);

// Whether this build has code for the current GPU. Loads all kernels: CUDA loads them lazily, and
// to load one may wait for all that the GPU has to do, a wait for a client's event included.
cudaError_t find_kernels();

}  // namespace kvc::cuda
