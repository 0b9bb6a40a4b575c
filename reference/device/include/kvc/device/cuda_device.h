// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The CUDA device: one GPU behind the interface of every device. Every build has these functions;
// in one without CUDA they say so. A build with CUDA needs no driver to start: the driver is
// looked for when it is first asked for.
//
// Handles: cudaIpcMemHandle_t and cudaIpcEventHandle_t, 64 bytes. A memory handle is opened once a
// process and allocation, however many tensors lie in it, and closed with its last user, as an open
// mapping pins the exporter's memory. The memory of one's own process cannot be opened (CUDA).
// device_uuid: the GPU's UUID as torch writes it, with or without "GPU-", in either case; never an
// ordinal, which differs between processes.
// Events: interprocess, without timing. An event made here stays alive for a while after its last
// user here is gone, as the importer opens it only when the reply has reached it: the last
// kCudaExportedEventsKept stay.
//
// Streams run in the order of their calls, on streams of the GPU that are never the default one;
// nothing synchronizes the whole device. Copies gather on the GPU and cross the bus in whole chunk
// objects, one piece crossing while the next is gathered. What differs from the host device, as
// CUDA cannot take back what was queued:
//   - A unit whose wait failed (it took longer than its limit, or the stream was abandoned) touches
//     no blocks, its host functions are told, and its events do complete.
//   - Where the driver knows no wait for a word in memory (cuStreamWaitValue32), a wait fails only
//     once it ends; a stream that is destroyed before is given kCudaDrainLimit. After that what it
//     has queued is left, with all that it might still touch, to the process's end.
//   - Of two writes of one batch to the same block, either may stay.
//
// Errors: a call that fails throws DeviceError, and the request that made it fails. An error after
// which CUDA cannot go on (an illegal address, a lost GPU) ends the device: it is logged once,
// what is queued is told that it failed, and every later call fails with the same reason.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "kvc/device/device.h"

namespace kvc {

inline constexpr std::size_t kCudaExportedEventsKept = 4096;
inline constexpr std::chrono::milliseconds kCudaDrainLimit{2000};

struct CudaSupport {
  bool available = false;
  std::string reason;  // why not; or what there is: "NVIDIA H200, driver 13.0, …"
};
// Never throws. Loads the driver if there is one; a GPU's context is made by create_cuda_device.
CudaSupport cuda_support();

struct CudaDeviceOptions {
  // Which GPU, by UUID; empty: the first usable one that
  // CUDA_VISIBLE_DEVICES lets us see.
  std::string device_uuid;
  // Told once when the device ends, and of what is odd but survived. Any thread.
  std::function<void(const std::string&)> log = [](const std::string&) {};
};
// Throws DeviceError where cuda_support() says no, and when the GPU does not answer.
std::unique_ptr<Device> create_cuda_device(const CudaDeviceOptions& options);

}  // namespace kvc
