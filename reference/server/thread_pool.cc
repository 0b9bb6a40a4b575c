// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/thread_pool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "kvc/protocol/assert.h"

namespace kvc::server {
namespace {

// Jobs in order, for any number of threads.
class JobQueue {
 public:
  void push(ThreadPool::Job job) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return;
      jobs_.push_back(std::move(job));
    }
    ready_.notify_one();
  }
  // Drops what is queued; run() returns after the job that it is at.
  void close() {
    std::deque<ThreadPool::Job> dropped;  // destroyed outside the lock
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      dropped.swap(jobs_);
    }
    ready_.notify_all();
  }
  // Runs jobs until the queue is closed.
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      ready_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
      if (closed_) return;
      ThreadPool::Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      job = nullptr;  // what the job holds goes before we sleep
      lock.lock();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<ThreadPool::Job> jobs_;
  bool closed_ = false;
};

class NormalPool final : public ThreadPool {
 public:
  explicit NormalPool(std::size_t max_workers) {
    KVC_ASSERT(max_workers > 0);
    for (std::size_t i = 0; i < max_workers; ++i) threads_.emplace_back([this] { queue_.run(); });
  }
  ~NormalPool() override {
    queue_.close();
    for (std::thread& thread : threads_) thread.join();
  }
  void submit(std::uint64_t, Job job) override { queue_.push(std::move(job)); }

 private:
  JobQueue queue_;
  std::vector<std::thread> threads_;
};

class AffinityPool final : public ThreadPool {
 public:
  explicit AffinityPool(std::size_t max_workers) : queues_(max_workers) {
    KVC_ASSERT(max_workers > 0);
    for (JobQueue& queue : queues_) threads_.emplace_back([&queue] { queue.run(); });
  }
  ~AffinityPool() override {
    for (JobQueue& queue : queues_) queue.close();
    for (std::thread& thread : threads_) thread.join();
  }
  void submit(std::uint64_t affinity_key, Job job) override {
    queues_[affinity_key % queues_.size()].push(std::move(job));
  }

 private:
  std::vector<JobQueue> queues_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<ThreadPool> create_normal_pool(std::size_t max_workers) {
  return std::make_unique<NormalPool>(max_workers);
}

std::unique_ptr<ThreadPool> create_affinity_pool(std::size_t max_workers) {
  return std::make_unique<AffinityPool>(max_workers);
}

}  // namespace kvc::server
