// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/cuda_stream.h"

#include <algorithm>
#include <string>
#include <utility>

#include "device/cuda/cuda_error.h"
#include "device/cuda/transfer_kernel.h"
#include "kvc/device/cuda_device.h"
#include "kvc/protocol/assert.h"

namespace kvc::cuda {
namespace {

using Clock = std::chrono::steady_clock;

CudaEvent& cuda_event(Event& event) {
  auto* const native = dynamic_cast<CudaEvent*>(&event);
  KVC_ASSERT(native != nullptr);  // an event of another device
  return *native;
}

Gpu& entered(Gpu& gpu) {
  gpu.enter();
  return gpu;
}

}  // namespace

CudaStream::CudaStream(std::shared_ptr<Gpu> gpu, std::shared_ptr<Janitor> janitor,
                       std::shared_ptr<EventWatch> watch, const StreamOptions& options)
    : gpu_((entered(*gpu), std::move(gpu))),
      watch_(std::move(watch)),
      wait_limit_(options.wait_limit),
      host_work_(std::make_shared<HostWork>(std::move(janitor))),
      lanes_{{{gpu_, StreamPriority::kNormal}, {gpu_, StreamPriority::kHigh}}},
      current_lane_(static_cast<std::size_t>(options.priority)),
      lane_end_(gpu_, cudaEventDisableTiming),
      spoiled_(std::make_shared<SharedWord>(gpu_)) {
  // A GPU that has ended runs nothing any more, CUDA's host functions neither.
  health_ticket_ = gpu_->health.add([work = host_work_] { work->fail_all(); });
}

CudaStream::~CudaStream() {
  abandon();
  gpu_->health.remove(health_ticket_);
  // What calls kept alive without a host function behind them waits for one too.
  try {
    const std::lock_guard lock(mutex_);
    gpu_->enter();
    queue_host_work({});
  } catch (const DeviceError&) {  // the device has ended, and failed all that waited
  }
  if (gpu_->health.ended()) host_work_->fail_all();
  if (host_work_->drained_within(kCudaDrainLimit)) return;
  gpu_->health.log("a CUDA stream is given up that waits for a client's event");
  host_work_->leak();
  // Neither may the GPU's memory go that the stream would still use, nor the word it would read.
  static_cast<void>(prepared_.release());
  static_cast<void>(new std::shared_ptr<SharedWord>(spoiled_));
}

void CudaStream::begin_unit() {
  const std::lock_guard lock(mutex_);
  gpu_->enter();
  pending_waits_.clear();  // of a unit that nothing came of
  if (!kept_.empty()) queue_host_work({});
  unit_ = std::make_shared<WorkUnit>();
  unit_waits_ = false;
}

void CudaStream::change_lane(StreamPriority priority) {
  const auto next = static_cast<std::size_t>(priority);
  if (next == current_lane_) return;
  record_on(lane(), lane_end_);
  current_lane_ = next;
  wait_for(lane(), lane_end_);
}

void CudaStream::wait(std::shared_ptr<Event> event) {
  const std::lock_guard lock(mutex_);
  gpu_->enter();
  const cudaError_t state = cudaEventQuery(cuda_event(*event).native()->get());
  if (state == cudaSuccess) return;  // the usual case costs one look
  if (state != cudaErrorNotReady) gpu_->check(state, "cudaEventQuery", "of a client's event");
  cudaGetLastError();
  pending_waits_.push_back({std::move(event), Clock::now() + wait_limit_});
}

void CudaStream::queue_waits() {
  for (PendingWait& pending : std::exchange(pending_waits_, {})) {
    auto gate = std::make_shared<SharedWord>(gpu_);
    kept_.push_back(gate);
    unit_waits_ = true;
    if (!watch_->add(lane(), {pending.event, pending.until, abandoned_, unit_, std::move(gate)}))
      wait_for(lane(), *cuda_event(*pending.event).native());
    kept_.push_back(std::move(pending.event));
    // A wait of the GPU's own cannot be given up. Then the clock is looked at when it has ended.
    queue_host_work(
        [unit = unit_, word = spoiled_, abandoned = abandoned_, until = pending.until](bool) {
          if (abandoned->load() || Clock::now() > until) unit->failed.store(true);
          word->set(unit->failed.load() ? 1 : 0);
        });
  }
}

void CudaStream::record(std::shared_ptr<Event> event) {
  const std::lock_guard lock(mutex_);
  gpu_->enter();
  queue_waits();
  record_on(lane(), *cuda_event(*event).native());
}

CudaStream::Prepared::Prepared(const std::shared_ptr<Gpu>& gpu,
                               std::shared_ptr<const BlockSpace> of)
    : space(std::move(of)),
      plan(*space),
      staging(gpu, plan.chunk_stride()),
      planes(gpu, plan.planes().size() * sizeof(TransferPlane), staging.to_gpu()) {
  gpu->check(cudaMemcpyAsync(planes.address(), plan.planes().data(), planes.size_bytes(),
                             cudaMemcpyHostToDevice, staging.to_gpu()),
             "cudaMemcpyAsync", "of the planes");
  gpu->check(cudaStreamSynchronize(staging.to_gpu()), "cudaStreamSynchronize", "of the planes");
}

void CudaStream::prepare(const std::shared_ptr<const BlockSpace>& space) {
  if (prepared_ != nullptr && prepared_->space == space) return;
  // One stream serves one registration, so this is its first copy. Were it another one's turn, what
  // the old one's copies need must be over.
  if (prepared_ != nullptr)
    gpu_->check(cudaStreamSynchronize(lane()), "cudaStreamSynchronize", "for another registration");
  prepared_ = std::make_unique<Prepared>(gpu_, space);
}

void CudaStream::copy(std::shared_ptr<const BlockSpace> space, std::vector<ChunkCopy> chunks) {
  if (chunks.empty()) return;
  const std::lock_guard lock(mutex_);
  gpu_->enter();
  prepare(space);
  const bool scatters = chunks.front().direction == CopyDirection::kChunkToBlocks;
  change_lane(scatters ? StreamPriority::kHigh : StreamPriority::kNormal);
  queue_waits();
  kept_.push_back(space);
  bool queued = false;
  try {
    const std::size_t count_max = prepared_->staging.chunks_per_slot();
    for (std::size_t first = 0; first < chunks.size();) {
      std::size_t count = 1;
      while (count < count_max && first + count < chunks.size() &&
             chunks[first + count].direction == chunks[first].direction)
        ++count;
      queue_batch(std::span(chunks).subspan(first, count), queued);
      first += count;
    }
  } catch (const DeviceError& error) {
    // What was queued uses the objects until the stream gets there, so the request must not end as
    // if nothing had happened: its host function comes behind it, and is told.
    if (!queued) throw;
    unit_->failed.store(true);
    gpu_->health.log(std::string("a copy was given up half way: ") + error.what());
  }
  prepared_->staging.join(lane());
}

void CudaStream::queue_batch(std::span<const ChunkCopy> chunks, bool& queued) {
  const bool to_host = chunks.front().direction == CopyDirection::kBlocksToChunk;
  Staging& staging = prepared_->staging;
  Staging::Slot& slot = staging.next_slot();
  const cudaStream_t bus = to_host ? staging.to_host() : staging.to_gpu();
  const cudaStream_t first = to_host ? lane() : bus;
  const cudaStream_t second = to_host ? bus : lane();
  wait_for(first, *slot.free);
  queued = true;
  if (to_host)
    queue_launches(chunks, slot);
  else
    queue_on_bus(chunks, slot, false);
  record_on(first, *slot.filled);
  wait_for(second, *slot.filled);
  if (to_host)
    queue_on_bus(chunks, slot, true);
  else
    queue_launches(chunks, slot);
  record_on(second, *slot.free);
}

void CudaStream::queue_launches(std::span<const ChunkCopy> chunks, const Staging::Slot& slot) {
  TransferBatch batch;
  batch.chunks = chunks;
  batch.staging = slot.memory->address();
  batch.planes = reinterpret_cast<const TransferPlane*>(prepared_->planes.address());
  batch.spoiled = unit_waits_ ? spoiled_->on_gpu() : nullptr;
  const bool to_object = chunks.front().direction == CopyDirection::kBlocksToChunk;
  prepared_->plan.for_each_launch(batch, [&](const TransferLaunch& launch) {
    gpu_->check(launch_transfer(launch, to_object, lane()), "transfer_kernel");
  });
}

void CudaStream::queue_on_bus(std::span<const ChunkCopy> chunks, const Staging::Slot& slot,
                              bool to_host) {
  const std::size_t size = prepared_->plan.chunk_bytes();
  std::uint8_t* staged = slot.memory->address();
  for (const ChunkCopy& chunk : chunks) {
    gpu_->check(to_host ? cudaMemcpyAsync(chunk.object, staged, size, cudaMemcpyDeviceToHost,
                                          prepared_->staging.to_host())
                        : cudaMemcpyAsync(staged, chunk.object, size, cudaMemcpyHostToDevice,
                                          prepared_->staging.to_gpu()),
                "cudaMemcpyAsync", "of a chunk object");
    staged += prepared_->plan.chunk_stride();
  }
}

void CudaStream::wait_for(cudaStream_t stream, const NativeEvent& event) {
  gpu_->check(cudaStreamWaitEvent(stream, event.get(), 0), "cudaStreamWaitEvent");
}

void CudaStream::record_on(cudaStream_t stream, const NativeEvent& event) {
  gpu_->check(cudaEventRecord(event.get(), stream), "cudaEventRecord");
}

void CudaStream::queue_host_work(HostWork::Function function) {
  void* const added = host_work_->add(std::move(function), unit_, std::exchange(kept_, {}));
  const cudaError_t error = cudaLaunchHostFunc(lane(), HostWork::run, added);
  if (error == cudaSuccess) return;
  // Not queued. It may go only when what it keeps is needed no more: when the stream is through, or
  // the device has ended.
  unit_->failed.store(true);
  const std::string text = gpu_->meet(error, "cudaLaunchHostFunc");
  if (const cudaError_t left = cudaStreamSynchronize(lane()); left != cudaSuccess)
    gpu_->meet(left, "cudaStreamSynchronize");
  HostWork::drop(added);
  throw DeviceError(text);
}

void CudaStream::host_function(std::function<void(bool completed)> function) {
  const std::lock_guard lock(mutex_);
  gpu_->enter();
  queue_waits();
  queue_host_work(std::move(function));
}

void CudaStream::synchronize() {
  cudaStream_t stream = nullptr;
  {
    const std::lock_guard lock(mutex_);
    gpu_->enter();
    queue_waits();
    stream = lane();
  }
  gpu_->check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

bool CudaStream::idle() const {
  const std::lock_guard lock(mutex_);
  if (!gpu_->try_enter()) return host_work_->empty();
  const cudaError_t state = cudaStreamQuery(lane());
  if (state == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  if (state != cudaSuccess) gpu_->meet(state, "cudaStreamQuery");
  return host_work_->empty();
}

void CudaStream::abandon() { abandoned_->store(true); }

}  // namespace kvc::cuda
