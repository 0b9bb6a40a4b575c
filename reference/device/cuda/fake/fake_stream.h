// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The fake GPU's streams: a thread each, that runs what is queued in order. After a sticky error
// what is queued is dropped. Any thread.
#pragma once

#include <cuda_runtime_api.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace kvc::fake_gpu {

class FakeStream : public std::enable_shared_from_this<FakeStream> {
 public:
  using Work = std::function<void()>;

  static cudaStream_t create();
  // Its work goes on to its end.
  static cudaError_t destroy(cudaStream_t stream);
  // Null: there is none of this name. The calling thread's own stream for cudaStreamPerThread; the
  // default stream ends the process.
  static std::shared_ptr<FakeStream> find(cudaStream_t stream);
  static void drain_all();

  void queue(Work work);
  void drain();
  bool idle();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> queued_;
  bool working_ = false;
  bool ended_ = false;
};

// Whether the calling thread runs a host function, in which CUDA must not be called.
bool& in_host_function();

}  // namespace kvc::fake_gpu
