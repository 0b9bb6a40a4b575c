// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/transfer_twin.h"

namespace kvc::cuda {

void run_transfer_twin(const TransferLaunch& launch, CopyDirection direction,
                       std::uint32_t num_threads) {
  if (is_spoiled(launch)) return;
  with_vector(launch.shape.vector_bytes, [&](auto vector) {
    using Vector = decltype(vector);
    for (std::uint32_t plane = 0; plane < launch.num_planes; ++plane)
      for (std::uint32_t thread = 0; thread < num_threads; ++thread) {
        if (direction == CopyDirection::kBlocksToChunk)
          move_share<Vector, true>(launch, launch.planes[plane], thread, num_threads);
        else
          move_share<Vector, false>(launch, launch.planes[plane], thread, num_threads);
      }
  });
}

}  // namespace kvc::cuda
