// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Gpu: which GPU, and how its errors are met. Every entry into CUDA begins with enter(), as the
// current GPU is a thread's own affair. Shared by all that lives on the GPU. Any thread.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "device/cuda/device_health.h"
#include "device/cuda/device_uuid.h"
#include "device/cuda/freer.h"

namespace kvc::cuda {

class Gpu {
 public:
  static constexpr std::chrono::milliseconds kFreePatience{200};

  Gpu(int ordinal, const UuidBytes& uuid, std::function<void(const std::string&)> log)
      : health(std::move(log)),
        ordinal_(ordinal),
        uuid_(uuid),
        freer_([ordinal] { cudaSetDevice(ordinal); }, kFreePatience) {}

  // Makes it the calling thread's GPU. Throws DeviceError once the device has ended.
  void enter();
  // The same for destructors: answers whether calls make sense.
  bool try_enter() noexcept;

  // Throws DeviceError unless `error` is success.
  void check(cudaError_t error, std::string_view call, std::string_view place = {});
  // Takes note of an error, and answers it in words. What ends the device does so here.
  std::string meet(cudaError_t error, std::string_view call, std::string_view place = {});

  // Calls `free`, with the GPU entered, on a thread of its own; see Freer. Not once the device has
  // ended: the process's end frees all.
  void free(std::function<void()> free, std::chrono::milliseconds patience = kFreePatience);

  // A word of pinned host memory that kernels can read, at 0; to be given back. From a pool, as to
  // pin memory and to let it go may wait as well. Throws DeviceError.
  struct Word {
    std::uint32_t* host = nullptr;
    std::uint32_t* on_gpu = nullptr;
  };
  Word take_word();
  void give_word(const Word& word);

  int ordinal() const { return ordinal_; }
  const UuidBytes& uuid() const { return uuid_; }

  DeviceHealth health;

 private:
  void add_words();

  const int ordinal_;
  const UuidBytes uuid_;
  Freer freer_;
  std::mutex words_mutex_;
  std::vector<Word> words_;
};

}  // namespace kvc::cuda
