// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "int_scan.h"

#include "int_lanes.h"
#include "msgpack_int.h"

namespace kvc {

IntScan scan_ints_one_by_one(ByteView bytes, std::size_t count) {
  IntScan scan;
  const std::uint8_t* at = bytes.data();
  const std::uint8_t* const end = at + bytes.size();
  for (; scan.num_ints < count && at != end; ++scan.num_ints) {
    const std::size_t num_bytes = kIntBytes[*at];
    if (num_bytes == 0 || num_bytes > static_cast<std::size_t>(end - at)) break;
    const Int value = load_int(at);
    scan.all_fit_u32 = scan.all_fit_u32 && value.as_u32().has_value();
    scan.minimal = scan.minimal && is_minimal_int(at, value);
    at += num_bytes;
  }
  scan.num_bytes = static_cast<std::size_t>(at - bytes.data());
  return scan;
}

IntScan scan_ints(ByteView bytes, std::size_t count) {
  // Long arrays of plain tokens go through the lanes; what is left, or strange, one by one.
  const LaneScan lanes = scan_plain_tokens(bytes, count);
  IntScan scan = scan_ints_one_by_one(bytes.subspan(lanes.num_bytes), count - lanes.num_ints);
  scan.num_ints += lanes.num_ints;
  scan.num_bytes += lanes.num_bytes;
  return scan;
}

}  // namespace kvc
