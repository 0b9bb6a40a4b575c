// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The calls of the CUDA runtime themselves. One that is used and not here does not link, or links
// twice.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "device/cuda/fake/fake_event.h"
#include "device/cuda/fake/fake_faults.h"
#include "device/cuda/fake/fake_ledger.h"
#include "device/cuda/fake/fake_memory.h"
#include "device/cuda/fake/fake_stream.h"

namespace kvc::fake_gpu {
namespace {

constexpr std::chrono::microseconds kLook{20};
constexpr int kUsableGpu = 1;  // number 0 cannot share events
thread_local int t_gpu = 0;
thread_local cudaError_t t_last_error = cudaSuccess;

bool there_is_a_driver() {
  const char* const gpu = std::getenv("KVC_FAKE_GPU");
  return gpu == nullptr || *gpu != '\0';
}

cudaError_t answer(cudaError_t error) {
  if (error != cudaSuccess) t_last_error = error;
  return error;
}

// What every call does first.
cudaError_t begin(const char* call, bool on_a_gpu = true) {
  if (in_host_function()) {
    std::fprintf(stderr, "fake GPU: %s is called in a host function\n", call);
    std::abort();
  }
  if (!there_is_a_driver()) return cudaErrorInsufficientDriver;
  if (const cudaError_t error = fault_of(call); error != cudaSuccess) {
    if (is_sticky_here(error)) set_sticky_error(error);
    return error;
  }
  if (sticky_error() != cudaSuccess) return sticky_error();
  return on_a_gpu && t_gpu != kUsableGpu ? cudaErrorInvalidDevice : cudaSuccess;
}

#define KVC_FAKE_BEGIN(...)                                                                       \
  if (const cudaError_t begun = begin(__func__ __VA_OPT__(, ) __VA_ARGS__); begun != cudaSuccess) \
  return answer(begun)

CUresult address_range(CUdeviceptr* base, std::size_t* size, CUdeviceptr address) {
  const auto* const place = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address));
  *size = bytes_behind(place);
  if (*size == 0) return CUDA_ERROR_INVALID_VALUE;
  *base = address;
  return CUDA_SUCCESS;
}

CUresult stream_wait_value(CUstream name, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  if (const cudaError_t begun = begin("cuStreamWaitValue32"); begun != cudaSuccess)
    return static_cast<CUresult>(begun);
  const auto stream = FakeStream::find(name);
  const auto* const word =
      reinterpret_cast<const volatile std::uint32_t*>(static_cast<std::uintptr_t>(address));
  if (stream == nullptr || flags != CU_STREAM_WAIT_VALUE_GEQ ||
      !is_pinned(const_cast<const std::uint32_t*>(word), sizeof *word))
    return CUDA_ERROR_INVALID_VALUE;
  stream->queue([=] {
    while (*word < value && sticky_error() == cudaSuccess) std::this_thread::sleep_for(kLook);
  });
  return CUDA_SUCCESS;
}

// Both ends as the fake can use them; false where one is not what `kind` says.
bool resolve(void*& to, const void*& from, std::size_t size, cudaMemcpyKind kind) {
  const bool to_gpu = kind == cudaMemcpyHostToDevice;
  const void* const on_gpu = to_gpu ? to : from;
  if (is_device_address(to_gpu ? from : to)) return false;
  std::uint8_t* const bytes = usable(on_gpu, size);
  if (to_gpu)
    to = bytes;
  else
    from = bytes;
  return bytes != nullptr;
}

cudaError_t copy_async(void* to, const void* from, std::size_t size, cudaMemcpyKind kind,
                       cudaStream_t name) {
  const auto stream = FakeStream::find(name);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  const bool to_gpu = kind == cudaMemcpyHostToDevice;
  const bool pinned = is_pinned(to_gpu ? from : to, size);
  if ((!to_gpu && kind != cudaMemcpyDeviceToHost) || !resolve(to, from, size, kind))
    return cudaErrorInvalidValue;
  if (pinned) {
    stream->queue([=] { std::memcpy(to, from, size); });
    return cudaSuccess;
  }
  // "… a stream sync is performed before the copy is initiated", and from the GPU "the function
  // will return only once the copy has completed".
  stream->drain();
  stream->queue([=] { std::memcpy(to, from, size); });
  stream->drain();
  return sticky_error();
}

}  // namespace
}  // namespace kvc::fake_gpu

using namespace kvc::fake_gpu;  // NOLINT(google-build-using-namespace): C functions follow

extern "C" {

cudaError_t cudaGetLastError() {
  const cudaError_t error = sticky_error() != cudaSuccess ? sticky_error() : t_last_error;
  t_last_error = cudaSuccess;
  return error;
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    default:
      return "an error of the fake GPU";
  }
}
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorOfTheFakeGpu"; }

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  KVC_FAKE_BEGIN(false);
  *count = 2;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int gpu) {
  KVC_FAKE_BEGIN(false);
  if (gpu < 0 || gpu > kUsableGpu) return answer(cudaErrorInvalidDevice);
  t_gpu = gpu;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int gpu) {
  KVC_FAKE_BEGIN(false);
  *properties = cudaDeviceProp{};
  std::snprintf(properties->name, sizeof properties->name, "fake GPU %d", gpu);
  properties->unifiedAddressing = 1;
  for (int i = 0; i < 16; ++i) properties->uuid.bytes[i] = static_cast<char>(0xf0 + i * 3 + gpu);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int gpu) {
  KVC_FAKE_BEGIN(false);
  *value = attribute == cudaDevAttrIpcEventSupport ? gpu == kUsableGpu : -1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  KVC_FAKE_BEGIN();
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  KVC_FAKE_BEGIN();
  *total = kTotalBytes;
  *free = kTotalBytes - used_bytes();
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  KVC_FAKE_BEGIN();
  *function = nullptr;
  if (std::string(symbol) == "cuMemGetAddressRange")
    *function = reinterpret_cast<void*>(address_range);
  if (std::string(symbol) == "cuStreamWaitValue32")
    *function = reinterpret_cast<void*>(stream_wait_value);
  const bool known = *function != nullptr;
  *found = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

// --- Memory ---

cudaError_t cudaMalloc(void** address, std::size_t size) {
  KVC_FAKE_BEGIN();
  return answer(allocate(address, size, MemoryKind::kShared));
}
cudaError_t cudaFree(void* address) {
  KVC_FAKE_BEGIN();
  FakeStream::drain_all();
  return answer(release(address, MemoryKind::kShared));
}

cudaError_t cudaMallocAsync(void** address, std::size_t size, cudaStream_t stream) {
  KVC_FAKE_BEGIN();
  if (FakeStream::find(stream) == nullptr) return answer(cudaErrorInvalidResourceHandle);
  return answer(allocate(address, size, MemoryKind::kPool));
}
cudaError_t cudaFreeAsync(void* address, cudaStream_t name) {
  KVC_FAKE_BEGIN();
  const auto stream = FakeStream::find(name);
  if (stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  if (!is_device_address(address)) return answer(cudaErrorInvalidValue);
  stream->queue([=] { release(address, MemoryKind::kPool); });
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** memory, std::size_t size, unsigned) {
  KVC_FAKE_BEGIN();
  *memory = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  if (*memory == nullptr) return answer(cudaErrorMemoryAllocation);
  return answer(pin(*memory, size));
}
cudaError_t cudaFreeHost(void* memory) {
  KVC_FAKE_BEGIN();
  FakeStream::drain_all();
  const cudaError_t error = unpin(memory);
  if (error == cudaSuccess) std::free(memory);
  return answer(error);
}
cudaError_t cudaHostRegister(void* memory, std::size_t size, unsigned) {
  KVC_FAKE_BEGIN();
  return answer(pin(memory, size));
}
cudaError_t cudaHostUnregister(void* memory) {
  KVC_FAKE_BEGIN();
  FakeStream::drain_all();
  return answer(unpin(memory));
}
cudaError_t cudaHostGetDevicePointer(void** address, void* memory, unsigned) {
  KVC_FAKE_BEGIN();
  if (!is_pinned(memory, 1)) return answer(cudaErrorInvalidValue);
  *address = memory;
  return cudaSuccess;
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* address) {
  KVC_FAKE_BEGIN();
  return answer(export_memory(handle, address));
}
cudaError_t cudaIpcOpenMemHandle(void** address, cudaIpcMemHandle_t handle, unsigned flags) {
  KVC_FAKE_BEGIN();
  if (flags != cudaIpcMemLazyEnablePeerAccess) return answer(cudaErrorInvalidValue);
  return answer(import_memory(address, handle));
}
cudaError_t cudaIpcCloseMemHandle(void* address) {
  KVC_FAKE_BEGIN();
  FakeStream::drain_all();
  return answer(close_memory(address));
}

// --- Copies ---

cudaError_t cudaMemsetAsync(void* address, int value, std::size_t size, cudaStream_t name) {
  KVC_FAKE_BEGIN();
  const auto stream = FakeStream::find(name);
  if (stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  std::uint8_t* const bytes = usable(address, size);
  if (bytes == nullptr) return answer(cudaErrorInvalidValue);
  stream->queue([=] {
    if (value == 0)
      zero(address, size);
    else
      std::memset(bytes, value, size);
  });
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  KVC_FAKE_BEGIN();
  return answer(copy_async(to, from, size, kind, stream));
}

// --- Streams and events ---

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  KVC_FAKE_BEGIN();
  if (flags != cudaStreamNonBlocking || priority > 0 || priority < -5)
    return answer(cudaErrorInvalidValue);
  *stream = FakeStream::create();
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  KVC_FAKE_BEGIN();
  return answer(FakeStream::destroy(stream));
}
cudaError_t cudaStreamSynchronize(cudaStream_t name) {
  KVC_FAKE_BEGIN();
  const auto stream = FakeStream::find(name);
  if (stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  stream->drain();
  return answer(sticky_error());
}
cudaError_t cudaStreamQuery(cudaStream_t name) {
  KVC_FAKE_BEGIN();
  const auto stream = FakeStream::find(name);
  if (stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  return answer(stream->idle() ? cudaSuccess : cudaErrorNotReady);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t name, cudaEvent_t event_name, unsigned) {
  KVC_FAKE_BEGIN();
  const auto stream = FakeStream::find(name);
  const auto event = FakeEvent::find(event_name);
  if (stream == nullptr || event == nullptr) return answer(cudaErrorInvalidResourceHandle);
  stream->queue([record = FakeEvent::last(event)] { record.wait(); });
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t name, cudaHostFn_t function, void* data) {
  KVC_FAKE_BEGIN();
  const auto stream = FakeStream::find(name);
  if (stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  stream->queue([=] {
    in_host_function() = true;
    function(data);
    in_host_function() = false;
  });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  KVC_FAKE_BEGIN();
  return answer(FakeEvent::create(event, flags));
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  KVC_FAKE_BEGIN();
  return answer(FakeEvent::destroy(event));
}
cudaError_t cudaEventRecord(cudaEvent_t event_name, cudaStream_t name) {
  KVC_FAKE_BEGIN();
  const auto stream = FakeStream::find(name);
  const auto event = FakeEvent::find(event_name);
  if (stream == nullptr || event == nullptr) return answer(cudaErrorInvalidResourceHandle);
  stream->queue([record = FakeEvent::ask(event)]() mutable { record.set_complete(); });
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event_name) {
  KVC_FAKE_BEGIN();
  const auto event = FakeEvent::find(event_name);
  if (event == nullptr) return answer(cudaErrorInvalidResourceHandle);
  return answer(FakeEvent::last(event).complete() ? cudaSuccess : cudaErrorNotReady);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event_name) {
  KVC_FAKE_BEGIN();
  const auto event = FakeEvent::find(event_name);
  if (event == nullptr) return answer(cudaErrorInvalidResourceHandle);
  FakeEvent::last(event).wait();
  return answer(sticky_error());
}
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  KVC_FAKE_BEGIN();
  return answer(FakeEvent::export_event(handle, event));
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  KVC_FAKE_BEGIN();
  return answer(FakeEvent::import_event(event, handle));
}

}  // extern "C"
