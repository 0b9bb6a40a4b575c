// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/host_work.h"

#include <algorithm>
#include <utility>

namespace kvc::cuda {

void* HostWork::add(Function function, std::shared_ptr<WorkUnit> unit,
                    std::vector<Janitor::Thing> kept) {
  auto item = std::make_shared<Item>();
  item->function = std::move(function);
  item->unit = std::move(unit);
  item->kept = std::move(kept);
  auto token = std::make_unique<Token>(Token{shared_from_this(), item});
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(item));
  return token.release();
}

void HostWork::run(void* added) { finish(added, true); }
void HostWork::drop(void* added) { finish(added, false); }

void HostWork::finish(void* added, bool completed) {
  const std::unique_ptr<Token> token(static_cast<Token*>(added));
  token->work->run_item(token->item, completed);
}

void HostWork::run_item(const std::shared_ptr<Item>& item, bool completed) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(item->taken, true)) return;
  }
  if (item->function) item->function(completed && !item->unit->failed.load());
  item->kept.emplace_back(std::make_shared<Function>(std::move(item->function)));
  janitor_->give(std::move(item->kept));
  const std::lock_guard lock(mutex_);
  waiting_.remove(item);
  if (waiting_.empty()) drained_.notify_all();
}

void HostWork::fail_all() {
  for (;;) {
    std::shared_ptr<Item> first;
    {
      const std::lock_guard lock(mutex_);
      const auto untaken = std::find_if(waiting_.begin(), waiting_.end(),
                                        [](const auto& item) { return !item->taken; });
      if (untaken == waiting_.end()) return;
      first = *untaken;
    }
    run_item(first, false);
  }
}

bool HostWork::drained_within(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return drained_.wait_for(lock, limit, [this] { return waiting_.empty(); });
}

bool HostWork::empty() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty();
}

// Never destroyed, on purpose: CUDA may still be using what the items keep.
void HostWork::leak() {
  static std::mutex leaked_mutex;
  static auto* const leaked = new std::vector<std::shared_ptr<Item>>();
  const std::scoped_lock lock(leaked_mutex, mutex_);
  leaked->insert(leaked->end(), waiting_.begin(), waiting_.end());
}

}  // namespace kvc::cuda
