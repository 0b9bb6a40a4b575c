// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/device/cuda_device.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "device/cuda/cuda_buffer.h"
#include "device/cuda/cuda_error.h"
#include "device/cuda/cuda_event.h"
#include "device/cuda/cuda_memory.h"
#include "device/cuda/cuda_stream.h"
#include "device/cuda/event_watch.h"
#include "device/cuda/janitor.h"
#include "device/cuda/open_once.h"
#include "device/cuda/spin_kernel.h"
#include "device/cuda/transfer_kernel.h"
#include "kvc/device/memory_gauge.h"
#include "kvc/device/pin_memory.h"

namespace kvc {
namespace cuda {
namespace {

constexpr std::size_t kHandleBytes = sizeof(cudaIpcMemHandle_t);
static_assert(kHandleBytes == 64 && sizeof(cudaIpcEventHandle_t) == 64, "as the protocol has them");

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

UuidBytes uuid_bytes(const cudaUUID_t& uuid) {
  UuidBytes bytes;
  std::memcpy(bytes.data(), uuid.bytes, bytes.size());
  return bytes;
}

class CudaDevice final : public Device, public MemoryPinner, public MemoryGauge {
 public:
  explicit CudaDevice(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}

  std::string_view name() const override { return "cuda"; }
  bool accepts_uuid(std::string_view device_uuid) const override {
    return names_uuid(device_uuid, gpu_->uuid());
  }
  std::string own_uuid() const override { return uuid_text(gpu_->uuid()); }

  Result<std::shared_ptr<Buffer>> open_buffer(ByteView handle) override {
    if (handle.size() != kHandleBytes)
      return Error{Errc::kBadValue, "",
                   "a CUDA memory handle has 64 bytes, got " + std::to_string(handle.size())};
    HandleBytes key;
    std::memcpy(key.data(), handle.data(), key.size());
    Result<std::shared_ptr<ImportedMemory>> memory =
        imported_->get(key, [&] { return ImportedMemory::open(gpu_, handle); });
    if (!memory) return memory.error();
    return std::shared_ptr<Buffer>(
        std::make_shared<CudaBuffer>(gpu_, std::move(memory).value(), to_bytes(handle)));
  }

  Result<std::shared_ptr<Event>> open_event(ByteView handle) override {
    return CudaEvent::open(gpu_, handle);
  }

  std::shared_ptr<Buffer> create_buffer(std::size_t size_bytes) override {
    auto memory = std::make_shared<OwnMemory>(gpu_, size_bytes);
    Bytes handle = memory->export_handle();
    return std::make_shared<CudaBuffer>(gpu_, std::move(memory), std::move(handle));
  }

  std::shared_ptr<Event> create_event() override {
    std::shared_ptr<CudaEvent> event = CudaEvent::create(gpu_);
    std::shared_ptr<NativeEvent> oldest;  // its end is a call into CUDA: not under the lock
    const std::lock_guard lock(exported_mutex_);
    exported_.push_back(event->native());
    if (exported_.size() > kCudaExportedEventsKept) {
      oldest = std::move(exported_.front());
      exported_.pop_front();
    }
    return event;
  }

  std::unique_ptr<Stream> create_stream(const StreamOptions& options) override {
    return std::make_unique<CudaStream>(gpu_, janitor_, watch_, options);
  }

  std::shared_ptr<void> pin(std::span<std::uint8_t> memory) override {
    return std::make_shared<PinnedRange>(gpu_, memory);
  }

  std::size_t free_bytes() override {
    gpu_->enter();
    std::size_t free = 0, total = 0;
    gpu_->check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
  }

 private:
  using HandleBytes = std::array<std::uint8_t, kHandleBytes>;

  const std::shared_ptr<Gpu> gpu_;
  const std::shared_ptr<Janitor> janitor_ = std::make_shared<Janitor>();
  const std::shared_ptr<EventWatch> watch_ = std::make_shared<EventWatch>(gpu_);
  const std::shared_ptr<OpenOnce<HandleBytes, ImportedMemory>> imported_ =
      std::make_shared<OpenOnce<HandleBytes, ImportedMemory>>();
  std::mutex exported_mutex_;
  std::deque<std::shared_ptr<NativeEvent>> exported_;
};

struct Found {
  int ordinal = -1;
  cudaDeviceProp properties{};
  std::string reason;  // why there is none
};

std::string usable_reason(const cudaDeviceProp& properties, int ordinal) {
  int can_share_events = 0;
  cudaDeviceGetAttribute(&can_share_events, cudaDevAttrIpcEventSupport, ordinal);
  if (can_share_events == 0 || properties.unifiedAddressing == 0)
    return std::string(properties.name) + " cannot share memory and events between processes here";
  return "";
}

// The GPU of that UUID, or the first one.
Found find_gpu(const std::string& uuid) {
  // Streams share the GPU's queues, 8 by default, and one that waits for a client holds up those
  // behind it in its queue. 32 is the most there are. Read by the driver when it starts.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  Found found;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();
    found.reason = error_text("cudaGetDeviceCount", "", error);
    return found;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) {
      cudaGetLastError();
      continue;
    }
    if (!uuid.empty() && !names_uuid(uuid, uuid_bytes(properties.uuid))) continue;
    found.reason = usable_reason(properties, ordinal);
    if (!found.reason.empty()) {
      if (uuid.empty()) continue;
      return found;
    }
    found.ordinal = ordinal;
    found.properties = properties;
    return found;
  }
  if (found.reason.empty())
    found.reason = uuid.empty() ? "no GPU is visible" : "no GPU of UUID " + uuid + " is visible";
  return found;
}

}  // namespace
}  // namespace cuda

CudaSupport cuda_support() {
  const cuda::Found found = cuda::find_gpu("");
  if (found.ordinal < 0) return {false, found.reason};
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  return {true, std::string(found.properties.name) + ", driver " + cuda::version_text(driver) +
                    ", runtime " + cuda::version_text(runtime)};
}

std::unique_ptr<Device> create_cuda_device(const CudaDeviceOptions& options) {
  const cuda::Found found = cuda::find_gpu(options.device_uuid);
  if (found.ordinal < 0) throw DeviceError("CUDA: " + found.reason);
  auto gpu = std::make_shared<cuda::Gpu>(found.ordinal, cuda::uuid_bytes(found.properties.uuid),
                                         options.log);
  gpu->enter();
  gpu->give_word(gpu->take_word());  // the pool is there before anything waits
  gpu->check(cuda::find_spin_kernel(), "cudaFuncGetAttributes", "of the spin kernel");
  gpu->check(cuda::find_kernels(), "cudaFuncGetAttributes",
             "of this build's kernels, for " + std::string(found.properties.name));
  return std::make_unique<cuda::CudaDevice>(std::move(gpu));
}

}  // namespace kvc
