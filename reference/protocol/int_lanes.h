// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// scan_plain_tokens: the fast half of scan_ints. The place of an integer is known only when the one
// before it has been looked at, so a plain loop waits some twelve cycles for each. Here four lanes
// walk four parts of the bytes at the same time. Only the first knows that it starts at an integer;
// the others start anywhere, and fall into step after a few bytes nearly always. Then the walk is
// proved: each lane must arrive exactly where the next one began to count. What cannot be proved is
// not counted.
#pragma once

#include <cstddef>

#include "kvc/protocol/bytes.h"

namespace kvc {

struct LaneScan {
  std::size_t num_ints = 0;
  std::size_t num_bytes = 0;
};

// Counts integers from the start of `bytes`, at most `count`, all of them below 2^32 and in their
// shortest encoding. It may stop early, between two integers, for any reason.
LaneScan scan_plain_tokens(ByteView bytes, std::size_t count);

}  // namespace kvc
