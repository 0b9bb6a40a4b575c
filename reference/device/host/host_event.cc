// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/host/host_event.h"

#include <bit>
#include <thread>
#include <utility>

#include "device/host/host_handle.h"

namespace kvc {
namespace {

static_assert(std::endian::native == std::endian::little, "events are little-endian");
static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free,
              "an atomic between processes needs no lock");

// Most events are complete, or nearly so, when they are waited for: look a while without sleeping.
// Then sleep shortly, as a request waits, and longer when it has already waited long.
constexpr int kLooksBeforeSleep = 64;
constexpr std::chrono::microseconds kSleep{100};
constexpr std::chrono::milliseconds kLongWait{500};
constexpr std::chrono::milliseconds kLongSleep{1};

}  // namespace

HostEvent::HostEvent(std::shared_ptr<ShmMapping> mapping, std::string name,
                     std::shared_ptr<ShmNames> names)
    : mapping_(std::move(mapping)), name_(std::move(name)), names_(std::move(names)) {}

HostEvent::~HostEvent() {
  if (names_) names_->retire(name_);
}

Bytes HostEvent::ipc_handle() const { return write_host_handle(kEventMagic, name_); }

std::atomic_ref<std::uint64_t> HostEvent::recorded() const {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(mapping_->address()));
}

std::atomic_ref<std::uint64_t> HostEvent::completed() const {
  return std::atomic_ref<std::uint64_t>(
      *reinterpret_cast<std::uint64_t*>(mapping_->address() + sizeof(std::uint64_t)));
}

std::uint64_t HostEvent::target() const { return recorded().load(std::memory_order_acquire); }

bool HostEvent::reached(std::uint64_t target) const {
  const bool there = completed().load(std::memory_order_acquire) >= target;
  // In this order: memory that was taken away reads as zero, and the reading finds it out.
  return there && !mapping_->lost();
}

bool HostEvent::complete() const { return reached(target()); }

WaitOutcome HostEvent::wait(std::uint64_t target, std::chrono::milliseconds limit,
                            const std::atomic<bool>& abandoned) const {
  using Clock = std::chrono::steady_clock;
  for (int looks = 0; looks < kLooksBeforeSleep; ++looks) {
    if (reached(target)) return WaitOutcome::kComplete;
    std::this_thread::yield();
  }
  const Clock::time_point start = Clock::now();
  while (!reached(target)) {
    if (mapping_->lost()) return WaitOutcome::kLost;
    if (abandoned.load(std::memory_order_acquire)) return WaitOutcome::kAbandoned;
    const Clock::duration waited = Clock::now() - start;
    if (waited >= limit) return WaitOutcome::kTimedOut;
    if (waited < kLongWait)
      std::this_thread::sleep_for(kSleep);
    else
      std::this_thread::sleep_for(kLongSleep);
  }
  return WaitOutcome::kComplete;
}

void HostEvent::synchronize() const {
  // An event whose memory is gone never completes, and nobody should wait for ever for it.
  while (!synchronize_for(std::chrono::hours(1)) && !mapping_->lost()) {
  }
}

bool HostEvent::synchronize_for(std::chrono::milliseconds limit) const {
  static constexpr std::atomic<bool> kNever{false};
  return wait(target(), limit, kNever) == WaitOutcome::kComplete;
}

std::uint64_t HostEvent::begin_record() {
  return recorded().fetch_add(1, std::memory_order_acq_rel) + 1;
}

void HostEvent::finish_record(std::uint64_t number) {
  // Two streams may record the same event; the later number stays.
  std::uint64_t seen = completed().load(std::memory_order_relaxed);
  while (seen < number &&
         !completed().compare_exchange_weak(seen, number, std::memory_order_acq_rel)) {
  }
}

}  // namespace kvc
