// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <algorithm>

#include "fields.h"
#include "kvc/protocol/codec.h"
#include "kvc/protocol/limits.h"
#include "kvc/protocol/pickle.h"
#include "reader.h"
#include "utf8.h"

namespace kvc {
namespace {

constexpr std::int8_t kPickleExtCode = 1;

bool read(Reader& reader, const Path& path, None&) { return reader.read_nil(path); }
bool read(Reader& reader, const Path& path, Int& out) { return reader.read_int(path, out); }
bool read(Reader& reader, const Path& path, bool& out) { return reader.read_bool(path, out); }
bool read(Reader& reader, const Path& path, std::string& out) { return reader.read_str(path, out); }
bool read(Reader& reader, const Path& path, Bytes& out) { return reader.read_bytes(path, out); }
bool read(Reader& reader, const Path& path, OptionalInt& out) {
  return reader.read_optional_int(path, out);
}
bool read(Reader& reader, const Path& path, IntArray& out) {
  return reader.read_int_array(path, out);
}

// A salt becomes part of names in which these characters separate.
bool check_cache_salt(Reader& reader, const Path& path, const std::string& salt) {
  constexpr std::string_view kForbidden("@/\\\0", 4);
  if (const std::size_t at = salt.find_first_of(kForbidden); at != std::string::npos) {
    const char bad = salt[at];
    return reader.fail(Errc::kBadValue, path,
                       std::string("must not contain ") +
                           (bad == '\0' ? std::string("NUL") : "'" + std::string(1, bad) + "'"));
  }
  const std::size_t num_code_points = count_code_points(salt);
  if (num_code_points > limits::kCacheSaltCodePointsMax) {
    return reader.fail(Errc::kBadValue, path,
                       "exceeds " + std::to_string(limits::kCacheSaltCodePointsMax) +
                           " characters, got " + std::to_string(num_code_points));
  }
  return true;
}

bool read(Reader& reader, const Path& path, Key& out) {
  const auto read_field = [&](std::size_t index, const Path& field) {
    switch (index) {
      case 0:
        return read(reader, field, out.model_name);
      case 1:
        return read(reader, field, out.world_size);
      case 2:
        return read(reader, field, out.worker_id);
      case 3:
        return read(reader, field, out.token_ids);
      case 4:
        return read(reader, field, out.start);
      case 5:
        return read(reader, field, out.end);
      case 6:
        return read(reader, field, out.request_id);
      default:
        return read(reader, field, out.cache_salt);
    }
  };
  // The salt is judged last, as the real class does: of two, only the one that holds counts.
  return read_fields(reader, path, kKeyFields, kNumRequiredKeyFields, read_field) &&
         check_cache_salt(reader, path.field("cache_salt"), out.cache_salt);
}

bool read(Reader& reader, const Path& path, BlockAllocationRecord& out) {
  return read_fields(reader, path, kRecordFields, kRecordFields.size(),
                     [&](std::size_t index, const Path& field) {
                       switch (index) {
                         case 0:
                           return read(reader, field, out.req_id);
                         case 1:
                           return read(reader, field, out.new_block_ids);
                         default:
                           return read(reader, field, out.new_token_ids);
                       }
                     });
}

bool read(Reader& reader, const Path& path, CBMatchResult& out) {
  return read_fields(reader, path, kMatchFields, kMatchFields.size(),
                     [&](std::size_t index, const Path& field) {
                       switch (index) {
                         case 0:
                           return read(reader, field, out.old_st);
                         case 1:
                           return read(reader, field, out.old_ed);
                         case 2:
                           return read(reader, field, out.cur_st);
                         case 3:
                           return read(reader, field, out.cur_ed);
                         default:
                           return read(reader, field, out.hash);
                       }
                     });
}

bool read(Reader& reader, const Path& path, EngineType& out) {
  std::string_view name;
  if (!reader.read_name(path, name)) return false;
  const std::optional<EngineType> type = parse_engine_type(name);
  if (!type.has_value()) return reader.fail(Errc::kBadValue, path, "no such engine type");
  out = *type;
  return true;
}

bool read(Reader& reader, const Path& path, KvLayout& out) {
  std::string_view name;
  if (!reader.read_name(path, name)) return false;
  const std::optional<KvLayout> layout = parse_kv_layout(name);
  if (!layout.has_value()) return reader.fail(Errc::kBadValue, path, "expected NHD or HND");
  out = *layout;
  return true;
}

template <class T>
bool read_into(Reader& reader, const Path& path, std::optional<T>& out) {
  return read(reader, path, out.emplace());
}

bool read(Reader& reader, const Path& path, LayoutHints& out) {
  HintOrder order;
  const auto read_field = [&](std::size_t index, const Path& field) {
    order.add(index);
    switch (index) {
      case 0:
        return read_into(reader, field, out.kv_layout);
      case 1:
        return read_into(reader, field, out.num_kv_heads);
      case 2:
        return read_into(reader, field, out.tokens_per_block);
      case 3:
        return read_into(reader, field, out.head_dim);
      default:
        return read_into(reader, field, out.inference_engine_logical_block_size);
    }
  };
  if (!read_fields(reader, path, kHintFields, 0, read_field)) return false;
  out.order = order.finish();
  return true;
}

bool read(Reader& reader, const Path& path, IpcTensor& out) {
  std::int8_t code = 0;
  ByteView body;
  if (!reader.read_ext(path, code, body)) return false;
  if (code != kPickleExtCode) {
    return reader.fail(Errc::kWrongExtCode, path,
                       "expected ext code 1, got " + std::to_string(code));
  }
  Result<IpcTensor> tensor = read_pickle(body);
  if (!tensor.ok()) return reader.fail_inside(path, tensor.error());
  out = std::move(tensor).value();
  return true;
}

bool read(Reader& reader, const Path& path, TransferResult& out) {
  return reader.read_tuple(path, 2) && read(reader, path.element(0), out.event_handle) &&
         read(reader, path.element(1), out.ok);
}

bool read(Reader& reader, const Path& path, Range& out) {
  return reader.read_tuple(path, 2) && read(reader, path.element(0), out.start) &&
         read(reader, path.element(1), out.end);
}

// Grows with what was read, so an array that claims more than it holds costs nothing.
template <class T>
bool read(Reader& reader, const Path& path, std::vector<T>& out) {
  std::size_t size = 0;
  if (!reader.read_array(path, size)) return false;
  if (std::is_same_v<T, IpcTensor> && size > limits::kTensorsMax) {
    return reader.fail(Errc::kLimit, path,
                       "more than " + std::to_string(limits::kTensorsMax) + " tensors");
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (!read(reader, path.element(i), out.emplace_back())) return false;
  }
  return true;
}

template <class T>
Result<Value> decode_as_value(ByteView frame) {
  Result<T> result = decode<T>(frame);
  if (!result.ok()) return result.error();
  return Value(std::move(result).value());
}

}  // namespace

template <class T>
Result<T> decode(ByteView frame) {
  Reader reader(frame);
  T value{};
  if (!read(reader, Path{}, value) || !reader.finish()) return reader.error();
  return value;
}

template Result<None> decode(ByteView);
template Result<Int> decode(ByteView);
template Result<bool> decode(ByteView);
template Result<std::string> decode(ByteView);
template Result<Bytes> decode(ByteView);
template Result<OptionalInt> decode(ByteView);
template Result<Key> decode(ByteView);
template Result<KVCache> decode(ByteView);
template Result<EngineType> decode(ByteView);
template Result<LayoutHints> decode(ByteView);
template Result<IntArray> decode(ByteView);
template Result<BlockAllocationRecords> decode(ByteView);
template Result<TransferResult> decode(ByteView);
template Result<Ranges> decode(ByteView);
template Result<CBMatchResults> decode(ByteView);

Result<Value> decode_value(WireType type, ByteView frame) {
  switch (type) {
    case WireType::kNone:
      return decode_as_value<None>(frame);
    case WireType::kInt:
      return decode_as_value<Int>(frame);
    case WireType::kBool:
      return decode_as_value<bool>(frame);
    case WireType::kStr:
      return decode_as_value<std::string>(frame);
    case WireType::kBytes:
      return decode_as_value<Bytes>(frame);
    case WireType::kOptionalInt:
      return decode_as_value<OptionalInt>(frame);
    case WireType::kKey:
      return decode_as_value<Key>(frame);
    case WireType::kKVCache:
      return decode_as_value<KVCache>(frame);
    case WireType::kEngineType:
      return decode_as_value<EngineType>(frame);
    case WireType::kLayoutHints:
      return decode_as_value<LayoutHints>(frame);
    case WireType::kIntList:
      return decode_as_value<IntArray>(frame);
    case WireType::kBlockAllocationRecords:
      return decode_as_value<BlockAllocationRecords>(frame);
    case WireType::kTransferResult:
      return decode_as_value<TransferResult>(frame);
    case WireType::kRanges:
      return decode_as_value<Ranges>(frame);
    case WireType::kCBMatchResults:
      return decode_as_value<CBMatchResults>(frame);
  }
  KVC_ASSERT(false);
}

}  // namespace kvc
