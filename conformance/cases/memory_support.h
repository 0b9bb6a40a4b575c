// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What the cases about memory share, on either device. Used on the thread of a case.
#pragma once

#include <cstddef>

#include "conformance/cases/data_cases.h"
#include "conformance/harness/engine_player.h"

namespace kvc::conformance {

// MLA with blocks of a chunk each and `block_bytes` large, in one layer.
EngineShape large_block_shape(Case& test, std::size_t block_bytes, std::size_t num_blocks);

// A hundred times: an instance with a buffer of its own of `size_bytes` is registered, stores a
// chunk, and is unregistered. Then the device's memory is free again, but for less than half of the
// hundred buffers: other processes may take some meanwhile.
void expect_registrations_leave_nothing(Case& test, std::size_t size_bytes);

}  // namespace kvc::conformance
