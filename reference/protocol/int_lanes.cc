// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "int_lanes.h"

#include <array>
#include <cstdint>

#include "big_endian.h"

namespace kvc {
namespace {

constexpr std::size_t kNumLanes = 4;
constexpr std::size_t kLaneBytes = 1024;
// In which a lane that starts anywhere must fall into step. An integer has 5 bytes at most here.
constexpr std::size_t kSyncBytes = 64;
constexpr std::size_t kBlockBytes = kNumLanes * kLaneBytes;
// Bytes behind a block that a lane may look at: the last integer, and the two bytes after a lead.
constexpr std::size_t kMarginBytes = 16;

// What a lead byte says: bits 24…, the bytes of the integer (1 where none starts, so that a lane
// out of step moves on); bits 0 to 16, of which one must be set in
//     (the two bytes behind the lead) + 2^16
// for a plain token. 2^16 always is: a fixint is one. An integer of two bytes is plain when its
// payload is at least 0x80, of three when the first of its payload is not 0, of five when the first
// two are not both 0: else a shorter encoding would do.
constexpr std::uint32_t kAlways = 1U << 16;
constexpr std::array<std::uint32_t, 256> kPlain = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::size_t lead = 0; lead < 256; ++lead) table[lead] = 1U << 24;
  for (std::size_t lead = 0; lead < 0x80; ++lead) table[lead] |= kAlways;
  table[0xcc] = (2U << 24) | 0x0080;
  table[0xcd] = (3U << 24) | 0x00ff;
  table[0xce] = (5U << 24) | 0xffff;
  return table;
}();

struct Lane {
  const std::uint8_t* at;
  const std::uint8_t* end;  // the lane stops at the first integer from here on
  std::size_t num_ints = 0;

  bool runs() const { return at < end; }

  void skip() { at += kPlain[*at] >> 24; }

  // False where no plain token stands.
  bool step() {
    const std::uint32_t rule = kPlain[*at];
    const std::uint32_t payload = load_little_endian<std::uint16_t>(at + 1);
    at += rule >> 24;
    return ((payload | kAlways) & rule & 0x1ffff) != 0;
  }
};

// Four lanes at the same time while all of them run, then each to its end. Copies, so that the
// compiler keeps them in registers. False: there was something else than plain tokens.
bool walk(std::array<Lane, kNumLanes>& lanes) {
  Lane a = lanes[0];
  Lane b = lanes[1];
  Lane c = lanes[2];
  Lane d = lanes[3];
  std::size_t num_steps = 0;
  while (a.runs() && b.runs() && c.runs() && d.runs()) {
    if (!a.step() || !b.step() || !c.step() || !d.step()) return false;
    ++num_steps;
  }
  lanes = {a, b, c, d};
  for (Lane& lane : lanes) {
    lane.num_ints += num_steps;
    for (; lane.runs(); ++lane.num_ints) {
      if (!lane.step()) return false;
    }
  }
  return true;
}

// The same without counting, for lanes that are still out of step.
void fall_into_step(std::array<Lane, kNumLanes>& lanes) {
  Lane b = lanes[1];
  Lane c = lanes[2];
  Lane d = lanes[3];
  while (b.runs() && c.runs() && d.runs()) {
    b.skip();
    c.skip();
    d.skip();
  }
  lanes = {lanes[0], b, c, d};
  for (std::size_t i = 1; i < kNumLanes; ++i) {
    while (lanes[i].runs()) lanes[i].skip();
  }
}

// One block that starts at an integer. False: nothing is proved.
bool scan_block(const std::uint8_t* block, LaneScan& scan) {
  std::array<Lane, kNumLanes> lanes{};
  for (std::size_t i = 0; i < kNumLanes; ++i) {
    const std::uint8_t* part = block + i * kLaneBytes;
    lanes[i] = {part, part + kSyncBytes};
  }
  fall_into_step(lanes);
  std::array<const std::uint8_t*, kNumLanes> began{};
  for (std::size_t i = 0; i < kNumLanes; ++i) {
    began[i] = lanes[i].at;
    lanes[i].end = block + (i + 1) * kLaneBytes;
  }
  if (!walk(lanes)) return false;
  // Each lane goes on through the bytes that the next one did not count.
  const std::uint8_t* const block_end = lanes[kNumLanes - 1].at;
  for (std::size_t i = 0; i + 1 < kNumLanes; ++i)
    lanes[i].end = block + (i + 1) * kLaneBytes + kSyncBytes;
  if (!walk(lanes)) return false;
  LaneScan proved;
  for (std::size_t i = 0; i < kNumLanes; ++i) {
    if (i + 1 < kNumLanes && lanes[i].at != began[i + 1]) return false;
    proved.num_ints += lanes[i].num_ints;
  }
  scan.num_ints += proved.num_ints;
  scan.num_bytes += static_cast<std::size_t>(block_end - block);
  return true;
}

}  // namespace

LaneScan scan_plain_tokens(ByteView bytes, std::size_t count) {
  LaneScan scan;
  // A block holds at most one integer a byte, so it cannot pass the array's end while so many are
  // left. After one block that is not plain the rest is left to the caller: walking bytes twice
  // must not become the rule.
  while (count - scan.num_ints >= kBlockBytes + kMarginBytes &&
         bytes.size() - scan.num_bytes >= kBlockBytes + kMarginBytes) {
    if (!scan_block(bytes.data() + scan.num_bytes, scan)) break;
  }
  return scan;
}

}  // namespace kvc
