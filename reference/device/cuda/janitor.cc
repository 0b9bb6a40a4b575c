// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/janitor.h"

#include <utility>

namespace kvc::cuda {

Janitor::Janitor() : thread_([this] { run(); }) {}

Janitor::~Janitor() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// Without memory even for this the process ends: there would be no safe place to let go.
void Janitor::give(std::vector<Thing> things) noexcept {
  {
    const std::lock_guard lock(mutex_);
    given_.push_back(std::move(things));
    ++num_given_;
  }
  changed_.notify_all();
}

void Janitor::settle() {
  std::unique_lock lock(mutex_);
  const std::uint64_t until = num_given_;
  changed_.wait(lock, [&] { return num_gone_ >= until; });
}

void Janitor::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ended_ || !given_.empty(); });
    if (given_.empty()) return;
    std::vector<std::vector<Thing>> going = std::exchange(given_, {});
    const std::size_t count = going.size();
    lock.unlock();
    going.clear();
    lock.lock();
    num_gone_ += count;
    changed_.notify_all();
  }
}

}  // namespace kvc::cuda
