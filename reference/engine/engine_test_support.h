// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What the tests of the engine share: a clock that stands still until it is moved, and a played
// inference engine with paged buffers on a host device of its own. Not part of the library.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "kvc/device/export_tensor.h"
#include "kvc/device/host_device.h"

namespace kvc::test {

class FakeClock {
 public:
  Clock clock() {
    return [now = now_] { return *now; };
  }
  void advance(std::chrono::seconds by) { *now_ += by; }

 private:
  std::shared_ptr<TimePoint> now_ = std::make_shared<TimePoint>();
};

inline constexpr std::size_t kChunkSize = 8;
inline constexpr std::size_t kBlockSize = 4;
inline constexpr std::size_t kBlocksPerChunk = kChunkSize / kBlockSize;
inline constexpr std::size_t kNumBlocks = 16;
inline constexpr std::size_t kSlotBytes = 32;
inline constexpr std::size_t kNumLayers = 2;
inline constexpr std::size_t kObjectBytes = kNumLayers * kChunkSize * kSlotBytes;

inline std::string shm_prefix(const std::string& who) {
  return "kvct" + who + std::to_string(::getpid());
}

// Tokens first, first + 1, …
inline std::vector<std::uint32_t> tokens_from(std::uint32_t first, std::size_t count) {
  std::vector<std::uint32_t> tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

inline Key make_key(const std::vector<std::uint32_t>& tokens, const std::string& request_id = "r",
                    const std::string& model_name = "model") {
  Key key;
  key.model_name = model_name;
  key.world_size = 1;
  key.worker_id = Int(0);
  key.token_ids = IntArray::of_u32(tokens);
  key.start = 0;
  key.end = Int(tokens.size() / kChunkSize * kChunkSize);
  key.request_id = request_id;
  return key;
}

// `count` block ids from `first`.
inline IntArray blocks_from(std::uint32_t first, std::size_t count) {
  return IntArray::of_u32(tokens_from(first, count));
}

// A process of its own as far as the engine can tell: MLA layers [blocks, slots, bytes].
class PlayedInstance {
 public:
  explicit PlayedInstance(std::size_t slot_bytes = kSlotBytes)
      : device_(create_host_device(shm_prefix("e"))), slot_bytes_(slot_bytes) {
    for (std::size_t layer = 0; layer < kNumLayers; ++layer)
      buffers_.push_back(device_->create_buffer(kNumBlocks * kBlockSize * slot_bytes_));
  }

  KVCache kv_cache() const {
    KVCache out;
    for (const auto& buffer : buffers_) {
      ExportedTensor tensor;
      tensor.dtype = "uint8";
      tensor.shape = {static_cast<std::int64_t>(kNumBlocks), static_cast<std::int64_t>(kBlockSize),
                      static_cast<std::int64_t>(slot_bytes_)};
      out.push_back(export_tensor(*buffer, tensor, device_->own_uuid()));
    }
    return out;
  }

  void register_at(Engine& engine, Int instance_id, const std::string& model_name = "model",
                   Int world_size = 1) {
    const auto registered = engine.register_kv_cache(instance_id, kv_cache(), model_name,
                                                     world_size, EngineType::kVllm, {});
    ASSERT_TRUE(registered.ok()) << registered.error().text();
  }

  // Every byte of the block tells (seed, layer, position) apart.
  void fill(std::size_t block, std::uint32_t seed) {
    for (std::size_t layer = 0; layer < kNumLayers; ++layer)
      for (std::size_t i = 0; i < block_bytes(); ++i)
        at(layer, block)[i] = static_cast<std::uint8_t>(seed * 31 + layer * 101 + i * 7 + i / 256);
  }
  void fill_all(std::uint8_t byte) {
    for (const auto& buffer : buffers_) std::fill_n(buffer->address(), buffer->size_bytes(), byte);
  }
  Bytes block(std::size_t block) const {
    Bytes out;
    for (std::size_t layer = 0; layer < kNumLayers; ++layer)
      out.insert(out.end(), at(layer, block), at(layer, block) + block_bytes());
    return out;
  }
  // What fill(block, seed) makes.
  Bytes filled(std::uint32_t seed) {
    const Bytes before = block(0);
    fill(0, seed);
    Bytes out = block(0);
    for (std::size_t layer = 0; layer < kNumLayers; ++layer)
      std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(layer * block_bytes()),
                  block_bytes(), at(layer, 0));
    return out;
  }

  Bytes ready_event() {
    events_.push_back(device_->create_event());
    return events_.back()->ipc_handle();
  }
  void wait(const TransferResult& result) {
    auto event = device_->open_event(result.event_handle);
    ASSERT_TRUE(event.ok()) << event.error().text();
    (*event)->synchronize();
  }
  Device& device() { return *device_; }

 private:
  std::size_t block_bytes() const { return kBlockSize * slot_bytes_; }
  std::uint8_t* at(std::size_t layer, std::size_t block) const {
    return buffers_[layer]->address() + block * block_bytes();
  }

  std::unique_ptr<Device> device_;
  std::size_t slot_bytes_;
  std::vector<std::shared_ptr<Buffer>> buffers_;
  std::vector<std::shared_ptr<Event>> events_;
};

}  // namespace kvc::test
