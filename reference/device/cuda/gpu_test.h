// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What the tests that need a GPU share. Each is skipped, by name and reason, where none is.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <memory>

#include "device/test_support.h"
#include "kvc/device/buffer_access.h"
#include "kvc/device/cuda_device.h"
#include "kvc/device/pin_memory.h"

namespace kvc::cuda {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const CudaSupport support = cuda_support();
    if (!support.available) GTEST_SKIP() << "needs a GPU: " << support.reason;
    device_ = create_cuda_device({"", [](const std::string& text) { ADD_FAILURE() << text; }});
  }

  static Bytes download(const Buffer& buffer) {
    Bytes bytes(buffer.size_bytes());
    read_buffer(buffer, 0, bytes);
    return bytes;
  }

  std::unique_ptr<Device> device_;

 public:
  // Chunk objects in pinned memory, as a server's are: from other memory CUDA would copy before it
  // returns, and wait for the stream to do so.
  class Objects {
   public:
    Objects(Device& device, const Layout& layout, std::size_t count)
        : count_(count), size_(layout.chunk_bytes), memory_(count * size_ + 2 * kPage) {
      const auto start = reinterpret_cast<std::uintptr_t>(memory_.data());
      first_ = memory_.data() + (kPage - start % kPage);
      pin_ = pin_host_memory(device, {first_, (count * size_ + kPage - 1) / kPage * kPage});
    }
    std::size_t count() const { return count_; }
    std::uint8_t* operator[](std::size_t i) const { return first_ + i * size_; }

   private:
    static constexpr std::size_t kPage = 4096;
    const std::size_t count_, size_;
    Bytes memory_;
    std::uint8_t* first_ = nullptr;
    std::shared_ptr<void> pin_;  // goes before the memory
  };
};

}  // namespace kvc::cuda
