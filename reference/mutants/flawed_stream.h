// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// FlawedDevice: a device whose streams play each unit of work (what one request queues) as a flaw
// wants it. Everything else goes to the device behind it. Threads and errors: as Device.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kvc/device/device.h"

namespace kvc::mutants {

// What one request queues on a stream, in the order in which it is to happen.
struct Unit {
  std::shared_ptr<Event> wait_for;  // null: nothing
  std::shared_ptr<const BlockSpace> space;
  std::vector<ChunkCopy> copies;
  std::function<void(bool completed)> finish;  // makes objects visible, or lets them go
  std::shared_ptr<Event> done;

  bool copies_to(CopyDirection direction) const {
    return !copies.empty() && copies.front().direction == direction;
  }
  bool stores() const { return copies_to(CopyDirection::kBlocksToChunk); }
  bool retrieves() const { return copies_to(CopyDirection::kChunkToBlocks); }
};

// As the reference queues it.
void play(Unit unit, Stream& stream);

using PlayUnit = std::function<void(Unit unit, Stream& stream)>;

std::unique_ptr<Device> create_flawed_device(std::unique_ptr<Device> device, PlayUnit play_unit);

}  // namespace kvc::mutants
