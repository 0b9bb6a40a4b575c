// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// BlockStrides: where layer, kv, block, slot and head lie in a tensor, in bytes. With it all
// formats are one: an element's address is a sum of index * stride.
#pragma once

#include <cstddef>

#include "kvc/device/layout.h"

namespace kvc {

struct BlockStrides {
  std::size_t tensor = 0;  // index into Layout::tensors
  std::size_t base = 0;    // of the layer's kv 0, block 0, slot 0, head 0, from the buffer's start
  std::size_t kv = 0;
  std::size_t block = 0;
  std::size_t slot = 0;
  std::size_t head = 0;  // the elements of a head are contiguous in every format
};

BlockStrides block_strides(const Layout& layout, std::size_t layer);

}  // namespace kvc
