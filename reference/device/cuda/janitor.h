// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Janitor: a thread that lets go of things. CUDA calls a stream's host functions on a thread on
// which no CUDA call is allowed, and what they let go of last may be a mapping or an event, whose
// end is one. Any thread may give; give() does not throw and does not wait.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace kvc::cuda {

class Janitor {
 public:
  using Thing = std::shared_ptr<const void>;

  Janitor();
  ~Janitor();  // lets go of all that was given
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;

  void give(std::vector<Thing> things) noexcept;
  // Waits until what was given before this call is gone. Not for the janitor's own thread.
  void settle();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<Thing>> given_;
  std::uint64_t num_given_ = 0;
  std::uint64_t num_gone_ = 0;
  bool ended_ = false;
  std::thread thread_;  // last: it uses all above
};

}  // namespace kvc::cuda
