// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/freer.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

namespace kvc::cuda {

// Shared with the thread, which may have to be left behind.
struct Freer::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> given;
  std::uint64_t num_given = 0;
  std::uint64_t num_gone = 0;
  bool ended = false;

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return ended || !given.empty(); });
      if (given.empty()) return;
      const std::function<void()> free = std::move(given.front());
      given.pop_front();
      lock.unlock();
      free();
      lock.lock();
      ++num_gone;
      changed.notify_all();
    }
  }
};

Freer::Freer(std::function<void()> enter, std::chrono::milliseconds patience)
    : state_(std::make_shared<State>()),
      patience_(patience),
      thread_([state = state_, enter = std::move(enter)] {
        enter();
        state->run();
      }) {}

Freer::~Freer() {
  bool gone = false;
  {
    std::unique_lock lock(state_->mutex);
    state_->ended = true;
    state_->changed.notify_all();
    gone = state_->changed.wait_for(lock, patience_,
                                    [this] { return state_->num_gone == state_->num_given; });
  }
  if (gone)
    thread_.join();
  else
    thread_.detach();
}

void Freer::run(std::function<void()> free, std::chrono::milliseconds patience) {
  std::unique_lock lock(state_->mutex);
  state_->given.push_back(std::move(free));
  const std::uint64_t until = ++state_->num_given;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, patience, [&] { return state_->num_gone >= until; });
}

}  // namespace kvc::cuda
