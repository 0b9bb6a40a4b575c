// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "fuzz/served_frames.h"

#include <string>

#include "kvc/device/export_tensor.h"
#include "kvc/protocol/assert.h"
#include "kvc/protocol/codec.h"

namespace kvc::fuzz {
namespace {

constexpr std::int64_t kNumBlocks = 32;
constexpr std::int64_t kBlockSize = 16;

std::uint64_t below(std::uint64_t bound, std::mt19937_64& random) { return random() % bound; }

// Numbers where something changes: small, negative, and around the limits of the integers.
Int some_int(std::mt19937_64& random) {
  switch (below(16, random)) {
    case 0:
      return Int(-1);
    case 1:
      return Int(std::int64_t{1} << 40);
    case 2:
      return Int(~std::uint64_t{0});
    default:
      return Int(below(4, random));
  }
}

std::string request_id(std::mt19937_64& random) {
  return "request-" + std::to_string(below(16, random));
}

}  // namespace

ServedFrames::ServedFrames(Device& device, std::size_t chunk_size)
    : chunk_size_(chunk_size), event_(device.create_event()) {
  const auto exported = [&](std::vector<std::int64_t> shape) {
    std::size_t size_bytes = 2;  // bfloat16
    for (const std::int64_t n : shape) size_bytes *= static_cast<std::size_t>(n);
    buffers_.push_back(device.create_buffer(size_bytes));
    const ExportedTensor tensor{.dtype = "bfloat16", .shape = std::move(shape), .stride = {}};
    return export_tensor(*buffers_.back(), tensor, device.own_uuid());
  };
  const IpcTensor layer = exported({2, kNumBlocks, kBlockSize, 2, 4});
  kv_cache_ = encoded(KVCache{layer, layer});
  blend_kv_cache_ = encoded(KVCache{exported({2, 2, kNumBlocks * kBlockSize, 8})});
}

Bytes ServedFrames::key(std::mt19937_64& random) const {
  const std::size_t num_chunks = below(6, random);
  std::vector<Int> tokens;
  // Four families of prompts, which differ from the first or from the third chunk on.
  const std::uint64_t family = below(4, random);
  for (std::size_t i = 0; i < num_chunks * chunk_size_ + below(2, random); ++i)
    tokens.emplace_back(i + (i / chunk_size_ >= 2 * (family % 2) ? 1000 * family : 0));
  Key key;
  key.model_name = "hammer";
  key.worker_id = Int(0);
  key.token_ids = IntArray::of(tokens);
  key.end = Int(num_chunks * chunk_size_);
  if (below(4, random) == 0) key.worker_id.reset();
  if (below(4, random) == 0) key.start = Int(below(6, random) * chunk_size_);
  if (below(8, random) == 0) key.end = some_int(random);
  if (below(8, random) == 0) key.world_size = some_int(random);
  if (below(8, random) == 0) key.cache_salt = "tenant";
  key.request_id = request_id(random);
  return encoded(key);
}

Bytes ServedFrames::block_ids(std::mt19937_64& random) const {
  std::vector<Int> ids(below(6, random) * chunk_size_ / kBlockSize);
  for (Int& id : ids)
    id = below(64, random) == 0 ? some_int(random) : Int(below(kNumBlocks, random));
  return encoded(IntArray::of(ids));
}

Bytes ServedFrames::make(WireType type, std::mt19937_64& random) const {
  switch (type) {
    case WireType::kInt:
      return encoded(some_int(random));
    case WireType::kStr:
      return encoded(below(2, random) == 0 ? request_id(random) : std::string("hammer"));
    case WireType::kBytes:
      return encoded(event_->ipc_handle());
    case WireType::kKey:
      return key(random);
    case WireType::kKVCache:
      return below(4, random) == 0 ? blend_kv_cache_ : kv_cache_;
    case WireType::kEngineType:
      return encoded(EngineType::kVllm);
    case WireType::kLayoutHints:
      return encoded(LayoutHints{});
    case WireType::kIntList:
      return block_ids(random);
    case WireType::kBlockAllocationRecords:
      return encoded(BlockAllocationRecords{{request_id(random), IntArray{1, 2}, IntArray{3}}});
    case WireType::kRanges:
      return encoded(Ranges{{Int(0), Int(chunk_size_)}});
    case WireType::kCBMatchResults:
      return encoded(CBMatchResults{{0, Int(chunk_size_), 0, Int(chunk_size_), Bytes(32, 7)}});
    case WireType::kNone:
    case WireType::kBool:
    case WireType::kOptionalInt:
    case WireType::kTransferResult:
      break;  // results only
  }
  KVC_ASSERT(false);
}

}  // namespace kvc::fuzz
