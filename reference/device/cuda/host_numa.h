// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Memory near a GPU: on a machine of several NUMA nodes, bytes that cross from the far one to the
// GPU's bus take the way between the nodes too. Any thread.
#pragma once

#include <cstdint>
#include <span>

namespace kvc::cuda {

// Asks for pages of `memory` that are not there yet to be taken from `node`, where it has some.
// Answers whether the system took it; a system without NUMA does not, and nothing is lost.
bool prefer_numa_node(std::span<std::uint8_t> memory, int node);

}  // namespace kvc::cuda
