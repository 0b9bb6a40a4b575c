// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Layer groups: layers that one kernel launch can copy, and what a chunk holds of each (seed:
// kv_layer_groups.py).
#pragma once

#include <cstdint>
#include <optional>

#include "kvc/device/layout.h"

namespace kvc {

// Fills groups, tokens_per_block and chunk_bytes of a layout whose format, tensors, num_layers and
// chunk_size are known and checked. `logical_block_size` is the engine's block in tokens, if told.
Result<void> group_layers(Layout& layout, std::optional<Int> logical_block_size);

}  // namespace kvc
