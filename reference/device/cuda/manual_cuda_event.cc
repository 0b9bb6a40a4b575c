// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/cuda_event.h"
#include "device/cuda/cuda_memory.h"
#include "device/cuda/native_stream.h"
#include "device/cuda/spin_kernel.h"
#include "device/manual_events.h"
#include "kvc/protocol/assert.h"

namespace kvc {
namespace cuda {
namespace {

class ManualCudaEvent final : public ManualEvent::Impl {
 public:
  ManualCudaEvent(std::shared_ptr<Event> event, const NativeEvent& native)
      : event_(std::move(event)),
        gpu_(native.shared_gpu()),
        stream_(gpu_, StreamPriority::kNormal),
        word_(gpu_) {
    gpu_->check(launch_spin(word_.on_gpu(), stream_.get()), "spin_kernel");
    if (const cudaError_t error = cudaEventRecord(native.get(), stream_.get());
        error != cudaSuccess) {
      end();
      gpu_->check(error, "cudaEventRecord");
    }
  }
  ~ManualCudaEvent() override { end(); }
  ManualCudaEvent(const ManualCudaEvent&) = delete;
  ManualCudaEvent& operator=(const ManualCudaEvent&) = delete;

  const std::shared_ptr<Event>& event() const override { return event_; }
  void complete() override { word_.set(1); }

 private:
  // The kernel reads the word, so it ends before that does.
  void end() {
    complete();
    if (gpu_->try_enter()) cudaStreamSynchronize(stream_.get());
  }

  const std::shared_ptr<Event> event_;
  const std::shared_ptr<Gpu> gpu_;
  NativeStream stream_;
  SharedWord word_;
};

}  // namespace
}  // namespace cuda

std::unique_ptr<ManualEvent::Impl> create_cuda_manual_event(Device& device) {
  auto event = std::dynamic_pointer_cast<cuda::CudaEvent>(device.create_event());
  KVC_ASSERT(event != nullptr);
  const std::shared_ptr<cuda::NativeEvent> native = event->native();
  return std::make_unique<cuda::ManualCudaEvent>(std::move(event), *native);
}

}  // namespace kvc
