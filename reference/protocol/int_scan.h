// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// scan_ints: one pass over the elements of an array of integers, which finds where they end and
// what an IntArray must know about them. It makes no object per element.
#pragma once

#include <cstddef>

#include "kvc/protocol/bytes.h"

namespace kvc {

struct IntScan {
  std::size_t num_ints = 0;  // less than asked for: what comes next is no integer, or the bytes end
  std::size_t num_bytes = 0;  // of these integers
  bool all_fit_u32 = true;
  bool minimal = true;  // each in its shortest encoding
};

IntScan scan_ints(ByteView bytes, std::size_t count);

// The same by the plain loop, which scan_ints is tested against.
IntScan scan_ints_one_by_one(ByteView bytes, std::size_t count);

}  // namespace kvc
