// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/host/host_stream.h"

#include <algorithm>
#include <utility>

#include "device/host/block_copy.h"
#include "device/host/host_buffer.h"

namespace kvc {
namespace {

HostEvent& host_event(Event& event) {
  auto* const host = dynamic_cast<HostEvent*>(&event);
  KVC_ASSERT(host != nullptr);  // an event of another device
  return *host;
}

bool any_lost(const BlockSpace& space) {
  return std::any_of(space.buffers.begin(), space.buffers.end(), [](const auto& buffer) {
    const auto* const host = dynamic_cast<const HostBuffer*>(buffer.get());
    return host != nullptr && host->lost();
  });
}

}  // namespace

// The priority says nothing here: a host has no high-priority copies.
HostStream::HostStream(const StreamOptions& options)
    : wait_limit_(options.wait_limit), thread_([this] { run(); }) {}

HostStream::~HostStream() {
  abandon();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  queued_.notify_all();
  thread_.join();
}

template <class MakeWork>
void HostStream::push(MakeWork make_work) {
  {
    const std::lock_guard lock(mutex_);
    KVC_ASSERT(!ended_);
    work_.push_back(make_work());
    ++num_queued_;
  }
  queued_.notify_one();
}

void HostStream::run() {
  bool whole = true;
  std::unique_lock lock(mutex_);
  for (;;) {
    queued_.wait(lock, [this] { return ended_ || !work_.empty(); });
    if (work_.empty()) return;
    Work work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    whole = work(whole);
    work = nullptr;  // what it kept alive goes now, and not under the lock
    lock.lock();
    ++num_run_;
    ran_.notify_all();
  }
}

void HostStream::begin_unit() {
  push([] { return [](bool) { return true; }; });
}

// The numbers of wait and record are read as they are queued, under one lock: a wait could
// otherwise ask for a record that is counted already and queued behind it, on this very stream, and
// never end.
void HostStream::wait(std::shared_ptr<Event> event) {
  push([&] {
    const std::uint64_t target = host_event(*event).target();
    return [this, target, event = std::move(event)](bool whole) {
      // The rest of a failed unit has nothing to wait for.
      return whole &&
             host_event(*event).wait(target, wait_limit_, abandoned_) == WaitOutcome::kComplete;
    };
  });
}

void HostStream::record(std::shared_ptr<Event> event) {
  push([&] {
    const std::uint64_t number = host_event(*event).begin_record();
    return [number, event = std::move(event)](bool whole) {
      if (whole) host_event(*event).finish_record(number);
      return whole;
    };
  });
}

void HostStream::copy(std::shared_ptr<const BlockSpace> space, std::vector<ChunkCopy> chunks) {
  push([&] {
    return [space = std::move(space), chunks = std::move(chunks)](bool whole) {
      if (!whole || any_lost(*space)) return false;
      const BlockCopy copy(*space);
      for (const ChunkCopy& chunk : chunks) copy.run(chunk);
      return !any_lost(*space);
    };
  });
}

void HostStream::host_function(std::function<void(bool completed)> function) {
  push([&] {
    return [function = std::move(function)](bool whole) {
      function(whole);
      return whole;
    };
  });
}

void HostStream::synchronize() {
  std::unique_lock lock(mutex_);
  const std::uint64_t queued = num_queued_;
  ran_.wait(lock, [&] { return num_run_ >= queued; });
}

bool HostStream::idle() const {
  const std::lock_guard lock(mutex_);
  return num_run_ == num_queued_;
}

void HostStream::abandon() { abandoned_.store(true, std::memory_order_release); }

}  // namespace kvc
