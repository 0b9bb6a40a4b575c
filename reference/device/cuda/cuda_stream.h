// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// CudaStream: a Stream on a GPU. All is queued by the caller, in the order of the calls, so an
// event that is recorded here is recorded when its handle leaves for a client. A unit that scatters
// (a RETRIEVE, for which a request waits) runs on a stream of high priority, all others on one of
// normal; when they change, one waits for the other, so a Stream stays in order.
//
//   STORE      blocks ──kernel──▶ slot ──bus──▶ object        the bus works while the next slot
//   fills RETRIEVE   object ──bus──▶ slot ──kernel──▶ blocks        the next slot fills while a
//   kernel works
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "device/cuda/cuda_event.h"
#include "device/cuda/event_watch.h"
#include "device/cuda/host_work.h"
#include "device/cuda/native_stream.h"
#include "device/cuda/staging.h"
#include "device/cuda/transfer_plan.h"
#include "kvc/device/device.h"

namespace kvc::cuda {

class CudaStream final : public Stream {
 public:
  // Throws DeviceError.
  CudaStream(std::shared_ptr<Gpu> gpu, std::shared_ptr<Janitor> janitor,
             std::shared_ptr<EventWatch> watch, const StreamOptions& options);
  ~CudaStream() override;

  using Stream::host_function;
  void begin_unit() override;
  void wait(std::shared_ptr<Event> event) override;
  void record(std::shared_ptr<Event> event) override;
  void copy(std::shared_ptr<const BlockSpace> space, std::vector<ChunkCopy> chunks) override;
  void host_function(std::function<void(bool completed)> function) override;
  void synchronize() override;
  bool idle() const override;
  void abandon() override;

 private:
  // What a registration's copies need on the GPU, made at its first one.
  struct Prepared {
    std::shared_ptr<const BlockSpace> space;
    TransferPlan plan;
    Staging staging;
    PoolMemory planes;  // in the order of a stream of the staging's

    Prepared(const std::shared_ptr<Gpu>& gpu, std::shared_ptr<const BlockSpace> of);
  };

  cudaStream_t lane() const { return lanes_[current_lane_].get(); }
  void change_lane(StreamPriority priority);
  // Queues the unit's waits, which are put off until its priority is known.
  void queue_waits();
  void prepare(const std::shared_ptr<const BlockSpace>& space);
  void queue_batch(std::span<const ChunkCopy> chunks, bool& queued);
  void queue_launches(std::span<const ChunkCopy> chunks, const Staging::Slot& slot);
  void queue_on_bus(std::span<const ChunkCopy> chunks, const Staging::Slot& slot, bool to_host);
  void wait_for(cudaStream_t stream, const NativeEvent& event);
  void record_on(cudaStream_t stream, const NativeEvent& event);
  // Queues a host function that keeps alive what the calls before need.
  void queue_host_work(HostWork::Function function);

  const std::shared_ptr<Gpu> gpu_;
  const std::shared_ptr<EventWatch> watch_;
  const std::chrono::milliseconds wait_limit_;
  const std::shared_ptr<std::atomic<bool>> abandoned_ = std::make_shared<std::atomic<bool>>(false);
  const std::shared_ptr<HostWork> host_work_;
  DeviceHealth::Ticket health_ticket_;

  mutable std::mutex mutex_;
  std::array<NativeStream, 2> lanes_;  // by StreamPriority
  std::size_t current_lane_;
  NativeEvent lane_end_;
  // Not 0 while the unit that runs has failed. Host functions write it in the stream's order.
  std::shared_ptr<SharedWord> spoiled_;
  std::unique_ptr<Prepared> prepared_;
  std::shared_ptr<WorkUnit> unit_ = std::make_shared<WorkUnit>();
  bool unit_waits_ = false;
  struct PendingWait {
    std::shared_ptr<Event> event;
    std::chrono::steady_clock::time_point until;
  };
  std::vector<PendingWait> pending_waits_;
  std::vector<Janitor::Thing> kept_;  // until the next host function has run
};

}  // namespace kvc::cuda
