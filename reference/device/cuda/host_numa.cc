// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/host_numa.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <climits>

namespace kvc::cuda {

bool prefer_numa_node(std::span<std::uint8_t> memory, int node) {
  constexpr int kNodesMax = 1024;
  constexpr int kBitsPerWord = sizeof(unsigned long) * CHAR_BIT;
  if (node < 0 || node >= kNodesMax || memory.empty()) return false;
  std::array<unsigned long, kNodesMax / kBitsPerWord> mask{};
  mask[static_cast<std::size_t>(node / kBitsPerWord)] = 1UL << (node % kBitsPerWord);
  // The system call itself: libnuma would be a dependency for one line.
  return ::syscall(SYS_mbind, memory.data(), memory.size(), MPOL_PREFERRED, mask.data(),
                   static_cast<unsigned long>(kNodesMax), 0U) == 0;
}

}  // namespace kvc::cuda
