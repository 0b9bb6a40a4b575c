// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// TransferLaunch: one launch of the copy between paged blocks and staged chunk objects, and the
// arithmetic and the loop of the kernel, compiled for the device and for the host alike: what runs
// on the CPU in the tests is what the kernel runs, letter by letter.
//
// The launch is a plain value of at most 4 KiB, passed as the kernel's argument. So the block ids
// travel with the launch: there is no list to upload, to keep alive, or to wait for.
//
// A row is a run of bytes that is contiguous on both sides: a head, all heads of a slot, or a whole
// block, as the layout allows. Threads move vectors, as wide as everything is aligned to.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#define KVC_HOST_DEVICE __host__ __device__ inline
#else
#define KVC_HOST_DEVICE inline
#endif

namespace kvc::cuda {

// One layer's keys or values in an engine's memory. Strides in bytes.
struct TransferPlane {
  std::uint8_t* address;  // of block 0, slot 0, head 0
  std::uint64_t block_stride;
  std::uint64_t slot_stride;
  std::uint64_t head_stride;
  std::uint64_t object_offset;  // of the plane's first slot in a chunk object
};

// What the planes of a layer group have in common. With rows of a slot, num_heads is 1; with rows
// of a block, num_slots too.
struct TransferShape {
  std::uint32_t num_slots;     // rows of a block, outer
  std::uint32_t num_heads;     // and inner
  std::uint64_t row_vectors;   // vectors of a row
  std::uint32_t vector_bytes;  // 1, 2, 4, 8 or 16
};

inline constexpr std::uint32_t kBlocksPerLaunchMax = 440;

struct TransferLaunch {
  const TransferPlane* planes;   // num_planes of them, where the copy runs
  std::uint8_t* staging;         // the batch's chunk objects, chunk_stride bytes apart
  const std::uint32_t* spoiled;  // if it is not null and points to other than 0: touch nothing
  std::uint64_t chunk_stride;
  TransferShape shape;
  std::uint32_t num_planes;
  std::uint32_t blocks_per_chunk;
  std::uint32_t first_block;  // position in the batch: block 0 is the first of its first chunk
  std::uint32_t num_blocks;
  std::int64_t block_ids[kBlocksPerLaunchMax];  // num_blocks of them
};
static_assert(sizeof(TransferLaunch) <= 4096, "kernel arguments of every architecture and driver");

struct TransferPlace {
  std::uint64_t tensor_offset;  // bytes from the plane's address
  std::uint64_t object_offset;  // bytes from the staging's start
};

KVC_HOST_DEVICE std::uint64_t vectors_of_block(const TransferShape& shape) {
  return shape.row_vectors * shape.num_heads * shape.num_slots;
}

// Where vector `index` of a plane lies on both sides; vectors are numbered in the order of the
// object. The divisions cost little: a vector moves 16 bytes over a bus that takes far longer.
KVC_HOST_DEVICE TransferPlace place_of(const TransferLaunch& launch, const TransferPlane& plane,
                                       std::uint64_t index) {
  const TransferShape& shape = launch.shape;
  const std::uint64_t block_vectors = vectors_of_block(shape);
  const std::uint64_t block = index / block_vectors;
  const std::uint64_t in_block = index % block_vectors;
  const std::uint64_t row = in_block / shape.row_vectors;
  const std::uint64_t in_row = in_block % shape.row_vectors;
  const std::uint64_t slot = row / shape.num_heads;
  const std::uint64_t head = row % shape.num_heads;

  const std::uint64_t position = launch.first_block + block;
  const std::uint64_t chunk = position / launch.blocks_per_chunk;
  const std::uint64_t in_chunk = position % launch.blocks_per_chunk;
  return TransferPlace{static_cast<std::uint64_t>(launch.block_ids[block]) * plane.block_stride +
                           slot * plane.slot_stride + head * plane.head_stride +
                           in_row * shape.vector_bytes,
                       chunk * launch.chunk_stride + plane.object_offset +
                           (in_chunk * block_vectors + in_block) * shape.vector_bytes};
}

// Threads of a thread block, and thread blocks a plane: enough to hide the latency of memory on the
// largest GPUs; each thread strides over the rest.
inline constexpr std::uint32_t kTransferThreads = 256;
inline constexpr std::uint32_t kThreadBlocksMax = 4096;

// REQUIRES: planes.
KVC_HOST_DEVICE std::uint32_t thread_blocks(const TransferLaunch& launch) {
  const std::uint64_t vectors = vectors_of_block(launch.shape) * launch.num_blocks;
  const std::uint64_t needed = (vectors + kTransferThreads - 1) / kTransferThreads;
  const std::uint64_t most = kThreadBlocksMax / launch.num_planes + 1;
  return static_cast<std::uint32_t>(needed < most ? needed : most);
}

// A vector of kBytes as one load and one store. All other access to the bytes, on the host, is as
// bytes, so no two types meet.
template <unsigned kBytes>
struct alignas(kBytes) TransferVector {
  std::uint32_t words[kBytes / 4];
};
template <>
struct TransferVector<2> {
  std::uint16_t word;
};
template <>
struct TransferVector<1> {
  std::uint8_t byte;
};

// The loop of one thread: vectors first, first + step, … of the plane's blocks.
template <class Vector, bool kToObject>
KVC_HOST_DEVICE void move_share(const TransferLaunch& launch, const TransferPlane& plane,
                                std::uint64_t first, std::uint64_t step) {
  const std::uint64_t total = vectors_of_block(launch.shape) * launch.num_blocks;
  for (std::uint64_t index = first; index < total; index += step) {
    const TransferPlace place = place_of(launch, plane, index);
    auto* const tensor = reinterpret_cast<Vector*>(plane.address + place.tensor_offset);
    auto* const object = reinterpret_cast<Vector*>(launch.staging + place.object_offset);
    if constexpr (kToObject)
      *object = *tensor;
    else
      *tensor = *object;
  }
}

KVC_HOST_DEVICE bool is_spoiled(const TransferLaunch& launch) {
  return launch.spoiled != nullptr && *launch.spoiled != 0;
}

// Calls `run` with a TransferVector of the launch's width.
template <class Run>
void with_vector(std::uint32_t vector_bytes, Run run) {
  switch (vector_bytes) {
    case 16:
      return run(TransferVector<16>{});
    case 8:
      return run(TransferVector<8>{});
    case 4:
      return run(TransferVector<4>{});
    case 2:
      return run(TransferVector<2>{});
    default:
      return run(TransferVector<1>{});
  }
}

}  // namespace kvc::cuda
