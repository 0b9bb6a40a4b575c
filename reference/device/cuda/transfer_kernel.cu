// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/transfer_kernel.h"

namespace kvc::cuda {
namespace {

template <class Vector, bool kToObject>
__global__ void __launch_bounds__(kTransferThreads)
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
    transfer_kernel<Vector, true><<<grid, kTransferThreads, 0, stream>>>(launch);
  else
    transfer_kernel<Vector, false><<<grid, kTransferThreads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_transfer(const TransferLaunch& launch, bool to_object, cudaStream_t stream) {
  if (vectors_of_block(launch.shape) * launch.num_blocks == 0 || launch.num_planes == 0)
    return cudaSuccess;
  const dim3 grid(thread_blocks(launch), launch.num_planes);
  cudaError_t error = cudaSuccess;
  with_vector(launch.shape.vector_bytes, [&](auto vector) {
    error = launch_with<decltype(vector)>(launch, to_object, grid, stream);
  });
  return error;
}

cudaError_t find_kernels() {
  cudaError_t error = cudaSuccess;
  for (const std::uint32_t vector_bytes : {16U, 8U, 4U, 2U, 1U})
    with_vector(vector_bytes, [&](auto vector) {
      using Vector = decltype(vector);
      cudaFuncAttributes attributes;
      if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, transfer_kernel<Vector, true>);
      if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, transfer_kernel<Vector, false>);
    });
  return error;
}

}  // namespace kvc::cuda
