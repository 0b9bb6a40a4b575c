// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/fake/fake_stream.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "device/cuda/fake/fake_faults.h"

namespace kvc::fake_gpu {
namespace {

struct Streams {
  std::mutex mutex;
  std::map<cudaStream_t, std::shared_ptr<FakeStream>> named;
  std::vector<std::weak_ptr<FakeStream>> all;  // those that are destroyed and still work, too
  std::uintptr_t last = 0x1000;
};

Streams& streams() {
  static auto* const all = new Streams();
  return *all;
}

std::shared_ptr<FakeStream> start() {
  const std::lock_guard lock(streams().mutex);
  auto stream = std::make_shared<FakeStream>();
  std::erase_if(streams().all, [](const auto& one) { return one.expired(); });
  streams().all.push_back(stream);
  return stream;
}

}  // namespace

bool& in_host_function() {
  thread_local bool running = false;
  return running;
}

cudaStream_t FakeStream::create() {
  std::shared_ptr<FakeStream> stream = start();
  std::thread([stream] { stream->run(); }).detach();
  const std::lock_guard lock(streams().mutex);
  const auto name = reinterpret_cast<cudaStream_t>(++streams().last);
  streams().named[name] = std::move(stream);
  return name;
}

cudaError_t FakeStream::destroy(cudaStream_t name) {
  std::shared_ptr<FakeStream> stream;
  {
    const std::lock_guard lock(streams().mutex);
    const auto found = streams().named.find(name);
    if (found == streams().named.end()) return cudaErrorInvalidResourceHandle;
    stream = std::move(found->second);
    streams().named.erase(found);
  }
  const std::lock_guard lock(stream->mutex_);
  stream->ended_ = true;
  stream->changed_.notify_all();
  return cudaSuccess;
}

std::shared_ptr<FakeStream> FakeStream::find(cudaStream_t name) {
  if (name == nullptr || name == cudaStreamLegacy) {
    std::fputs("fake GPU: the default stream is used\n", stderr);
    std::abort();
  }
  if (name == cudaStreamPerThread) {
    struct Own {
      cudaStream_t name = create();
      ~Own() { destroy(name); }
    };
    thread_local const Own own;
    return find(own.name);
  }
  const std::lock_guard lock(streams().mutex);
  const auto found = streams().named.find(name);
  return found == streams().named.end() ? nullptr : found->second;
}

void FakeStream::drain_all() {
  std::vector<std::shared_ptr<FakeStream>> all;
  {
    const std::lock_guard lock(streams().mutex);
    for (const auto& one : streams().all)
      if (auto stream = one.lock()) all.push_back(std::move(stream));
  }
  for (const auto& stream : all) stream->drain();
}

void FakeStream::queue(Work work) {
  const std::lock_guard lock(mutex_);
  queued_.push_back(std::move(work));
  changed_.notify_all();
}

void FakeStream::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queued_.empty() && !working_; });
}

bool FakeStream::idle() {
  const std::lock_guard lock(mutex_);
  return queued_.empty() && !working_;
}

void FakeStream::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ended_ || !queued_.empty(); });
    if (queued_.empty()) return;
    Work work = std::move(queued_.front());
    queued_.pop_front();
    working_ = true;
    lock.unlock();
    if (sticky_error() == cudaSuccess) work();
    work = {};  // what it holds goes before it counts as done
    lock.lock();
    working_ = false;
    changed_.notify_all();
  }
}

}  // namespace kvc::fake_gpu
