// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/fuzz/map_fields.h"

#include "kvc/protocol/codec.h"

namespace kvc::conformance {
namespace {

template <class T>
msg::Pair field(std::string_view name, const T& value) {
  return {msg::str(name), encoded(value)};
}

FieldList fields_of(const Key& key) {
  return {field("model_name", key.model_name), field("world_size", key.world_size),
          field("worker_id", key.worker_id),   field("token_ids", key.token_ids),
          field("start", key.start),           field("end", key.end),
          field("request_id", key.request_id), field("cache_salt", key.cache_salt)};
}

FieldList fields_of(const BlockAllocationRecord& record) {
  return {field("req_id", record.req_id), field("new_block_ids", record.new_block_ids),
          field("new_token_ids", record.new_token_ids)};
}

FieldList fields_of(const CBMatchResult& match) {
  return {field("old_st", match.old_st), field("old_ed", match.old_ed),
          field("cur_st", match.cur_st), field("cur_ed", match.cur_ed), field("hash", match.hash)};
}

FieldList fields_of(const LayoutHints& hints) {
  FieldList out;
  if (hints.kv_layout) out.push_back(field("kv_layout", std::string(to_string(*hints.kv_layout))));
  if (hints.num_kv_heads) out.push_back(field("num_kv_heads", *hints.num_kv_heads));
  if (hints.tokens_per_block) out.push_back(field("tokens_per_block", *hints.tokens_per_block));
  if (hints.head_dim) out.push_back(field("head_dim", *hints.head_dim));
  if (hints.inference_engine_logical_block_size)
    out.push_back(
        field("inference_engine_logical_block_size", *hints.inference_engine_logical_block_size));
  return out;
}

template <class T>
std::optional<MapFields> one_map(ByteView payload) {
  const Result<T> value = decode<T>(payload);
  if (!value) return std::nullopt;
  return MapFields{{fields_of(*value)}, false};
}

template <class T>
std::optional<MapFields> array_of_maps(ByteView payload) {
  const Result<T> values = decode<T>(payload);
  if (!values) return std::nullopt;
  MapFields out;
  out.in_array = true;
  for (const auto& value : *values) out.maps.push_back(fields_of(value));
  return out;
}

}  // namespace

std::optional<MapFields> map_fields(WireType type, ByteView payload) {
  switch (type) {
    case WireType::kKey:
      return one_map<Key>(payload);
    case WireType::kLayoutHints:
      return one_map<LayoutHints>(payload);
    case WireType::kBlockAllocationRecords:
      return array_of_maps<BlockAllocationRecords>(payload);
    case WireType::kCBMatchResults:
      return array_of_maps<CBMatchResults>(payload);
    default:
      return std::nullopt;
  }
}

Bytes compose(const MapFields& fields) {
  std::vector<Bytes> maps;
  for (const FieldList& list : fields.maps) maps.push_back(msg::map(list));
  return fields.in_array ? msg::array(maps) : maps.front();
}

Bytes other_value_of(std::string_view name) {
  if (name == "model_name" || name == "request_id" || name == "req_id" || name == "cache_salt")
    return msg::str("another");
  if (name == "kv_layout") return msg::str("HND");
  if (name == "hash") return msg::bin("another");
  if (name == "token_ids" || name == "new_block_ids" || name == "new_token_ids")
    return msg::array({msg::integer(7)});
  return msg::integer(7);
}

}  // namespace kvc::conformance
