// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/fuzz/legal_values.h"

#include <vector>

#include "kvc/protocol/assert.h"
#include "kvc/protocol/codec.h"

namespace kvc::conformance {
namespace {

IntArray legal_ints(Random& random) {
  std::vector<Int> out(one_in(random, 10) ? 1000 : below(random, 12));
  for (Int& value : out) value = legal_int(random);
  return IntArray::of(out);
}

std::string legal_salt(Random& random) {
  switch (below(random, 4)) {
    case 0:
      return std::string(128, 's');
    case 1:
      return "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80";
    default:
      return one_in(random, 2) ? "" : "tenant";
  }
}

Key legal_key(Random& random) {
  Key key;
  key.model_name = legal_text(random);
  key.world_size = legal_int(random);
  if (one_in(random, 2)) key.worker_id = legal_int(random);
  key.token_ids = legal_ints(random);
  key.start = legal_int(random);
  key.end = legal_int(random);
  key.request_id = legal_text(random);
  key.cache_salt = legal_salt(random);
  return key;
}

IpcTensor legal_tensor(Random& random) {
  IpcTensor tensor;
  if (one_in(random, 2)) {
    tensor.handle = RawIpcHandle{Bytes(64, 0x11), Int(4096)};
  } else {
    TorchIpcHandle handle;
    handle.handle = Bytes(66, 0x22);
    handle.handle[0] = 1;
    handle.handle[1] = 'c';
    handle.storage_size_bytes = Int(4096);
    handle.ref_counter_handle = Bytes(64, 0x33);
    handle.event_handle = Bytes(64, 0x44);
    tensor.handle = handle;
  }
  tensor.dtype = one_in(random, 2) ? "bfloat16" : "uint8";
  tensor.shape = {Int(2), Int(4), Int(8), Int(2), Int(4)};
  tensor.stride = {Int(256), Int(64), Int(8), Int(4), Int(1)};
  tensor.device_uuid = one_in(random, 2) ? "HOST-nobody" : "GPU-0000";
  return tensor;
}

CBMatchResult legal_match(Random& random) {
  return {legal_int(random), legal_int(random), legal_int(random), legal_int(random),
          random_bytes(random, 40)};
}

template <class T, class Make>
std::vector<T> some_of(Random& random, Make make) {
  std::vector<T> out;
  for (std::uint64_t i = below(random, 4); i > 0; --i) out.emplace_back(make(random));
  return out;
}

LayoutHints legal_hints(Random& random) {
  LayoutHints hints;
  if (one_in(random, 2)) hints.kv_layout = one_in(random, 2) ? KvLayout::kNHD : KvLayout::kHND;
  if (one_in(random, 3)) hints.num_kv_heads = legal_int(random);
  if (one_in(random, 3)) hints.head_dim = legal_int(random);
  return hints;
}

}  // namespace

Int legal_int(Random& random) {
  constexpr std::int64_t kEdges[] = {
      0,    1,     -1,    127,   128,        -32,        -33,        255,       256,      -128,
      -129, 32767, 65535, 65536, 2147483647, 4294967295, 4294967296, INT64_MAX, INT64_MIN};
  switch (below(random, 4)) {
    case 0:
      return Int(kEdges[below(random, std::size(kEdges))]);
    case 1:
      return one_in(random, 4) ? Int(~std::uint64_t{0}) : Int(random());
    default:
      return Int(below(random, 8));
  }
}

std::string legal_text(Random& random) {
  switch (below(random, 8)) {
    case 0:
      return "";
    case 1:
      return std::string(31 + below(random, 3), 'x');
    case 2:
      return std::string(255 + below(random, 3), 'y');
    case 3:
      return "\xe6\xbc\xa2 \xf0\x9f\x98\x80 \xc3\xa9";
    case 4:
      return std::string("nul\0within", 10);
    default:
      return "text-" + std::to_string(below(random, 1000));
  }
}

Bytes random_bytes(Random& random, std::size_t size_max) {
  Bytes out(below(random, size_max + 1));
  for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(random());
  return out;
}

Bytes legal_frame(WireType type, Random& random) {
  switch (type) {
    case WireType::kInt:
      return encoded(legal_int(random));
    case WireType::kStr:
      return encoded(legal_text(random));
    case WireType::kBytes:
      return encoded(random_bytes(random, 300));
    case WireType::kKey:
      return encoded(legal_key(random));
    case WireType::kKVCache:
      return encoded(some_of<IpcTensor>(random, legal_tensor));
    case WireType::kEngineType:
      return encoded(static_cast<EngineType>(below(random, 4)));
    case WireType::kLayoutHints:
      return encoded(legal_hints(random));
    case WireType::kIntList:
      return encoded(legal_ints(random));
    case WireType::kBlockAllocationRecords:
      return encoded(some_of<BlockAllocationRecord>(random, [](Random& r) {
        return BlockAllocationRecord{legal_text(r), legal_ints(r), legal_ints(r)};
      }));
    case WireType::kRanges:
      return encoded(some_of<Range>(random, [](Random& r) {
        return Range{legal_int(r), legal_int(r)};
      }));
    case WireType::kCBMatchResults:
      return encoded(some_of<CBMatchResult>(random, legal_match));
    case WireType::kNone:
    case WireType::kBool:
    case WireType::kOptionalInt:
    case WireType::kTransferResult:
      break;  // results only
  }
  KVC_ASSERT(false);
}

}  // namespace kvc::conformance
