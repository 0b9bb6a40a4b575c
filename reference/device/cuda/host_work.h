// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// HostWork: the host functions that a stream has queued, each run exactly once: by CUDA when the
// stream gets there, or by fail_all() when it never will. Makes no CUDA call, as it runs where none
// is allowed; so what a function kept alive goes to a Janitor. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "device/cuda/janitor.h"

namespace kvc::cuda {

// What one request queued; see Stream.
struct WorkUnit {
  std::atomic<bool> failed{false};
};

class HostWork : public std::enable_shared_from_this<HostWork> {
 public:
  using Function = std::function<void(bool completed)>;

  explicit HostWork(std::shared_ptr<Janitor> janitor) : janitor_(std::move(janitor)) {}

  // Adds a function, which may be empty, and what is to live until it has run. Answers what run()
  // is to be called with, or drop() if it never will be.
  void* add(Function function, std::shared_ptr<WorkUnit> unit, std::vector<Janitor::Thing> kept);
  // cudaHostFn_t. Tells the function whether its unit is whole.
  static void run(void* added);
  // Runs it now, with false, when it could not be queued.
  static void drop(void* added);

  // Runs all that wait, in order, with false. REQUIRES: nothing that they waited for runs any more.
  void fail_all();
  // Waits until nothing waits; answers false when `limit` passed before.
  bool drained_within(std::chrono::milliseconds limit);
  bool empty() const;
  // Leaves all that waits, and what it keeps, to the process's end.
  void leak();

 private:
  struct Item {
    Function function;
    std::shared_ptr<WorkUnit> unit;
    std::vector<Janitor::Thing> kept;
    bool taken = false;
  };
  struct Token {
    std::shared_ptr<HostWork> work;
    std::shared_ptr<Item> item;
  };

  static void finish(void* added, bool completed);
  // Takes the item, if nobody has yet, and runs it.
  void run_item(const std::shared_ptr<Item>& item, bool completed);

  const std::shared_ptr<Janitor> janitor_;
  mutable std::mutex mutex_;
  std::condition_variable drained_;
  std::list<std::shared_ptr<Item>> waiting_;
};

}  // namespace kvc::cuda
