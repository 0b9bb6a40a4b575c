// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/transfer_kernel.h"

namespace kvc::cuda {
namespace {

constexpr unsigned kThreads = 256;
// Enough to hide the latency of memory on the largest GPUs; each thread strides over the rest.
constexpr std::uint64_t kThreadBlocksMax = 4096;

template <class Vector, bool kToObject>
__global__ void __launch_bounds__(kThreads)
    transfer_kernel(const __grid_constant__ TransferLaunch launch) {
  if (is_spoiled(launch)) return;
  const TransferPlane plane = launch.planes[blockIdx.y];
  move_share<Vector, kToObject>(launch, plane,
                                static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
                                static_cast<std::uint64_t>(gridDim.x) * blockDim.x);
}

template <class Vector>
cudaError_t launch_with(const TransferLaunch& launch, bool to_object, dim3 grid,
                        cudaStream_t stream) {
  if (to_object)
    transfer_kernel<Vector, true><<<grid, kThreads, 0, stream>>>(launch);
  else
    transfer_kernel<Vector, false><<<grid, kThreads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_transfer(const TransferLaunch& launch, bool to_object, cudaStream_t stream) {
  const std::uint64_t vectors = vectors_of_block(launch.shape) * launch.num_blocks;
  if (vectors == 0 || launch.num_planes == 0) return cudaSuccess;
  const std::uint64_t per_plane = kThreadBlocksMax / launch.num_planes + 1;
  const std::uint64_t needed = (vectors + kThreads - 1) / kThreads;
  const dim3 grid(static_cast<unsigned>(needed < per_plane ? needed : per_plane),
                  launch.num_planes);
  cudaError_t error = cudaSuccess;
  with_vector(launch.shape.vector_bytes, [&](auto vector) {
    error = launch_with<decltype(vector)>(launch, to_object, grid, stream);
  });
  return error;
}

cudaError_t find_kernels() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, transfer_kernel<TransferVector<16>, true>);
}

}  // namespace kvc::cuda
