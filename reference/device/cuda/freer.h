// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Freer: a thread that frees. cudaFree, cudaIpcCloseMemHandle and their like may wait for all that
// the GPU has to do, and so for a client, or for a kernel that the freeing thread itself is to end.
// Makes no CUDA call of its own. Any thread may call run(), one at a time may destroy it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

namespace kvc::cuda {

class Freer {
 public:
  // `enter` is the thread's first call.
  Freer(std::function<void()> enter, std::chrono::milliseconds patience);
  ~Freer();  // what still has not gone after the patience is left to the process's end

  // Runs `free` behind those before it, and returns when it has run, or patience is at its end.
  void run(std::function<void()> free, std::chrono::milliseconds patience);

 private:
  struct State;
  const std::shared_ptr<State> state_;
  const std::chrono::milliseconds patience_;
  std::thread thread_;
};

}  // namespace kvc::cuda
