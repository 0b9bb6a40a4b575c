// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// HostEvent: two u64 in shared memory, recorded and completed. Other processes write them with
// plain stores and wake nobody, so waiting is looking, with pauses.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "device/host/shm_mapping.h"
#include "device/host/shm_names.h"
#include "kvc/device/device.h"

namespace kvc {

inline constexpr std::size_t kEventBytes = 16;

enum class WaitOutcome { kComplete, kTimedOut, kAbandoned, kLost };

class HostEvent final : public Event {
 public:
  // `names` for an event made here, whose name is retired with it; nullptr for one opened.
  HostEvent(std::shared_ptr<ShmMapping> mapping, std::string name, std::shared_ptr<ShmNames> names);
  ~HostEvent() override;

  Bytes ipc_handle() const override;
  bool complete() const override;
  void synchronize() const override;
  bool synchronize_for(std::chrono::milliseconds limit) const override;

  // The number that `completed` must reach: what `recorded` is now.
  std::uint64_t target() const;
  bool reached(std::uint64_t target) const;
  // Looks until reached, for at most `limit`, or until `abandoned`.
  WaitOutcome wait(std::uint64_t target, std::chrono::milliseconds limit,
                   const std::atomic<bool>& abandoned) const;

  std::uint64_t begin_record();              // counts the record asked for; answers its number
  void finish_record(std::uint64_t number);  // when the stream is there

 private:
  std::atomic_ref<std::uint64_t> recorded() const;
  std::atomic_ref<std::uint64_t> completed() const;

  const std::shared_ptr<ShmMapping> mapping_;
  const std::string name_;
  const std::shared_ptr<ShmNames> names_;
};

}  // namespace kvc
