// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// In the place of spin_kernel.cu and transfer_kernel.cu: the kernel's twin, on the threads of the
// fake streams, with the same shares. What a kernel would reach out of bounds ends the fake GPU.
#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "device/cuda/fake/fake_faults.h"
#include "device/cuda/fake/fake_memory.h"
#include "device/cuda/fake/fake_stream.h"
#include "device/cuda/spin_kernel.h"
#include "device/cuda/transfer_kernel.h"
#include "device/cuda/transfer_twin.h"

namespace kvc::cuda {
namespace {

using namespace kvc::fake_gpu;  // NOLINT(google-build-using-namespace)

// Bytes from a plane's address to the end of what its blocks reach.
std::uint64_t reach(const TransferLaunch& launch, const TransferPlane& plane) {
  const TransferShape& shape = launch.shape;
  std::uint64_t farthest = 0;
  for (std::uint32_t i = 0; i < launch.num_blocks; ++i)
    farthest = std::max(farthest, static_cast<std::uint64_t>(launch.block_ids[i]));
  return farthest * plane.block_stride + (shape.num_slots - 1) * plane.slot_stride +
         (shape.num_heads - 1) * plane.head_stride + shape.row_vectors * shape.vector_bytes;
}

// The launch with addresses that the fake can use; false where it leaves its memory.
bool resolve(TransferLaunch& launch, std::vector<TransferPlane>& planes) {
  const auto* const table = reinterpret_cast<const TransferPlane*>(
      usable(launch.planes, launch.num_planes * sizeof(TransferPlane)));
  if (table == nullptr) return false;
  planes.assign(table, table + launch.num_planes);
  const std::uint64_t last = launch.first_block + launch.num_blocks - 1;
  for (TransferPlane& plane : planes) {
    const std::uint64_t object_end = last / launch.blocks_per_chunk * launch.chunk_stride +
                                     plane.object_offset +
                                     (last % launch.blocks_per_chunk + 1) *
                                         vectors_of_block(launch.shape) * launch.shape.vector_bytes;
    if (usable(launch.staging, object_end) == nullptr) return false;
    plane.address = usable(plane.address, reach(launch, plane));
    if (plane.address == nullptr) return false;
  }
  launch.planes = planes.data();
  launch.staging = usable(launch.staging, 1);
  return true;
}

void run(TransferLaunch launch, bool to_object) {
  std::vector<TransferPlane> planes;
  if (is_spoiled(launch)) return;
  if (!resolve(launch, planes)) return set_sticky_error(cudaErrorIllegalAddress);
  run_transfer_twin(launch,
                    to_object ? CopyDirection::kBlocksToChunk : CopyDirection::kChunkToBlocks,
                    thread_blocks(launch) * kTransferThreads);
}

}  // namespace

cudaError_t launch_transfer(const TransferLaunch& launch, bool to_object, cudaStream_t name) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  const auto stream = FakeStream::find(name);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (launch.num_blocks == 0 || launch.num_planes == 0) return cudaSuccess;
  const cudaError_t fault = fault_of("transfer_kernel");
  if (fault != cudaSuccess && !is_sticky_here(fault)) return fault;
  if (fault != cudaSuccess)
    stream->queue([fault] { set_sticky_error(fault); });
  else
    stream->queue([launch, to_object] { run(launch, to_object); });
  return cudaSuccess;
}

cudaError_t find_kernels() { return fault_of("cudaFuncGetAttributes"); }

cudaError_t launch_spin(const std::uint32_t* word_on_gpu, cudaStream_t name) {
  const auto stream = FakeStream::find(name);
  if (stream == nullptr || !is_pinned(word_on_gpu, sizeof *word_on_gpu))
    return cudaErrorInvalidResourceHandle;
  stream->queue([word = static_cast<const volatile std::uint32_t*>(word_on_gpu)] {
    while (*word == 0) std::this_thread::yield();
  });
  return cudaSuccess;
}

cudaError_t find_spin_kernel() { return cudaSuccess; }

}  // namespace kvc::cuda
