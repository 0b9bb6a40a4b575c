// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Registrations of any shape on plain memory, for the properties of copies: all formats, paddings,
// compressed and mixed groups, sizes that vectors fit and sizes that none fits. Draws from
// RapidCheck, so it is called within a property. Not part of the library.
#pragma once

#include <rapidcheck.h>

#include <memory>
#include <utility>
#include <vector>

#include "device/test_support.h"

namespace kvc::test {

// Memory that is nobody's shared memory.
class PlainBuffer final : public Buffer {
 public:
  explicit PlainBuffer(Bytes bytes) : bytes_(std::move(bytes)) {}
  std::size_t size_bytes() const override { return bytes_.size(); }
  std::uint8_t* address() const override { return bytes_.data(); }
  Bytes ipc_handle() const override { return {}; }
  const Bytes& bytes() const { return bytes_; }

 private:
  mutable Bytes bytes_;
};

struct RandomEngine {
  EngineType type = EngineType::kVllm;
  LayoutHints hints;
  std::vector<TensorDesc> tensors;
};

inline RandomEngine random_engine() {
  RandomEngine engine;
  const auto format = *rc::gen::inRange(0, 6);
  const auto num_tensors = format == 5 ? 1 : *rc::gen::inRange<std::size_t>(1, 4);
  const std::int64_t slots = *rc::gen::element<std::int64_t>(1, 2, 4, 8);
  const std::int64_t blocks = *rc::gen::inRange<std::int64_t>(1, 9);
  const bool compressed = format == 4 && *rc::gen::arbitrary<bool>();
  if (format == 1 || format == 3) engine.hints.kv_layout = KvLayout::kHND;
  if (compressed) engine.hints.inference_engine_logical_block_size = Int(8);
  for (std::size_t i = 0; i < num_tensors; ++i) {
    const std::int64_t heads = *rc::gen::inRange<std::int64_t>(1, 4);
    // Some sizes have a copy of their own: 64, 128 and 256 bytes.
    const std::int64_t elements = *rc::gen::element<std::int64_t>(1, 3, 8, 32, 64, 128);
    const std::int64_t own_slots = compressed ? *rc::gen::element<std::int64_t>(1, 2, 4, 8) : slots;
    const char* const dtype = *rc::gen::element("uint8", "bfloat16", "float32");
    std::vector<std::int64_t> shape;
    switch (format) {
      case 0:
        shape = {2, blocks, slots, heads, elements};
        break;
      case 1:
        shape = {2, blocks, heads, slots, elements};
        break;
      case 2:
        shape = {blocks, 2, slots, heads, elements};
        break;
      case 3:
        shape = {blocks, 2, heads, slots, elements};
        break;
      case 4:
        shape = {blocks, own_slots, elements};
        break;
      default:
        engine.type = EngineType::kTrtllm;
        shape = {blocks, heads + 1, 2, heads, slots, elements};
    }
    TensorDesc desc = contiguous_desc(dtype, shape);
    if (format == 4) desc.stride[0] += *rc::gen::inRange<std::int64_t>(0, 40);
    desc.base_offset_bytes = desc.element_size * *rc::gen::inRange<std::size_t>(0, 5);
    engine.tensors.push_back(std::move(desc));
  }
  return engine;
}

inline std::shared_ptr<BlockSpace> random_space() {
  const RandomEngine engine = random_engine();
  Result<Layout> layout = discover_layout(engine.tensors, engine.type, engine.hints, 16);
  RC_ASSERT(layout.ok());
  auto space = std::make_shared<BlockSpace>();
  space->layout = std::move(layout).value();
  for (const TensorDesc& desc : space->layout.tensors) {
    std::size_t end = desc.base_offset_bytes + desc.element_size;
    for (std::size_t axis = 0; axis < desc.shape.size(); ++axis)
      end +=
          static_cast<std::size_t>((desc.shape[axis] - 1) * desc.stride[axis]) * desc.element_size;
    space->buffers.push_back(
        std::make_shared<PlainBuffer>(random_bytes(end + 3, *rc::gen::arbitrary<std::uint32_t>())));
  }
  return space;
}

inline std::vector<Bytes> contents(const BlockSpace& space) {
  std::vector<Bytes> all;
  for (const auto& buffer : space.buffers)
    all.emplace_back(buffer->address(), buffer->address() + buffer->size_bytes());
  return all;
}

}  // namespace kvc::test
