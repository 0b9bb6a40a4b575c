// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/gpu.h"

#include <utility>

#include "device/cuda/cuda_error.h"
#include "kvc/device/device.h"

namespace kvc::cuda {

void Gpu::enter() {
  if (health.ended()) throw DeviceError("the CUDA device has ended: " + health.reason());
  check(cudaSetDevice(ordinal_), "cudaSetDevice", std::to_string(ordinal_));
}

bool Gpu::try_enter() noexcept { return !health.ended() && cudaSetDevice(ordinal_) == cudaSuccess; }

void Gpu::check(cudaError_t error, std::string_view call, std::string_view place) {
  if (error != cudaSuccess) throw DeviceError(meet(error, call, place));
}

std::string Gpu::meet(cudaError_t error, std::string_view call, std::string_view place) {
  std::string text = error_text(call, place, error);
  // An error that passes is forgotten: the next launch would report it as its own.
  cudaGetLastError();
  if (is_sticky(error)) health.end(text);
  return text;
}

void Gpu::free(std::function<void()> free, std::chrono::milliseconds patience) {
  if (!health.ended()) freer_.run(std::move(free), patience);
}

void Gpu::add_words() {
  constexpr std::size_t kNumWords = 1024;
  void* host = nullptr;
  void* on_gpu = nullptr;
  // Never freed: a kernel of a stream that was given up may read it to the process's end.
  check(cudaHostAlloc(&host, kNumWords * sizeof(std::uint32_t), cudaHostAllocMapped),
        "cudaHostAlloc", "of words");
  check(cudaHostGetDevicePointer(&on_gpu, host, 0), "cudaHostGetDevicePointer");
  for (std::size_t i = 0; i < kNumWords; ++i)
    words_.push_back(
        {static_cast<std::uint32_t*>(host) + i, static_cast<std::uint32_t*>(on_gpu) + i});
}

Gpu::Word Gpu::take_word() {
  const std::lock_guard lock(words_mutex_);
  if (words_.empty()) add_words();
  const Word word = words_.back();
  words_.pop_back();
  *static_cast<volatile std::uint32_t*>(word.host) = 0;
  return word;
}

void Gpu::give_word(const Word& word) {
  const std::lock_guard lock(words_mutex_);
  words_.push_back(word);
}

}  // namespace kvc::cuda
