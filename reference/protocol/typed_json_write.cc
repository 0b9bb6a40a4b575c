// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "fields.h"
#include "kvc/protocol/typed_json.h"

namespace kvc {
namespace {

// Beyond it a reader that holds numbers as doubles would lose digits.
constexpr std::uint64_t kExactMax = std::uint64_t{1} << 53;

Json json_of(None) { return nullptr; }
Json json_of(bool value) { return value; }
Json json_of(const std::string& value) { return value; }
Json json_of(const Bytes& value) { return {{"bytes", to_hex(value)}}; }
Json json_of(EngineType value) { return {{"enum", to_string(value)}}; }

Json json_of(Int value) {
  const std::optional<std::int64_t> number = value.as_i64();
  const std::uint64_t size = value.is_negative() ? 0 - value.bits() : value.bits();
  if (!number.has_value() || size > kExactMax) return {{"int", value.to_string()}};
  return *number;
}

Json json_of(const OptionalInt& value) {
  return value.has_value() ? json_of(*value) : Json(nullptr);
}

template <class Values>
Json json_of_list(const Values& values);

Json json_of(const IntArray& values) { return json_of_list(values); }
Json json_of(const std::vector<Int>& values) { return json_of_list(values); }

template <std::size_t kSize, class... T>
Json json_of_fields(const std::array<std::string_view, kSize>& names, const T&... values) {
  static_assert(sizeof...(values) == kSize);
  Json json = Json::object();
  auto name = names.begin();
  ((json[std::string(*name++)] = json_of(values)), ...);
  return json;
}

Json json_of(const Key& key) {
  return json_of_fields(kKeyFields, key.model_name, key.world_size, key.worker_id, key.token_ids,
                        key.start, key.end, key.request_id, key.cache_salt);
}

Json json_of(const BlockAllocationRecord& record) {
  return json_of_fields(kRecordFields, record.req_id, record.new_block_ids, record.new_token_ids);
}

Json json_of(const CBMatchResult& match) {
  return json_of_fields(kMatchFields, match.old_st, match.old_ed, match.cur_st, match.cur_ed,
                        match.hash);
}

Json json_of(const LayoutHints& hints) {
  const std::array<const OptionalInt*, 5> numbers = {nullptr, &hints.num_kv_heads,
                                                     &hints.tokens_per_block, &hints.head_dim,
                                                     &hints.inference_engine_logical_block_size};
  Json json = Json::object();
  for (const std::size_t field : hints.order) {
    const std::string name(kHintFields[field]);
    if (field == 0) {
      if (hints.kv_layout.has_value()) json[name] = to_string(*hints.kv_layout);
    } else if (numbers[field]->has_value()) {
      json[name] = json_of(**numbers[field]);
    }
  }
  return json;
}

void add_handle(Json& json, const TorchIpcHandle& handle) {
  json["class"] = "CudaIPCWrapper";
  json["handle"] =
      Json::array({json_of(handle.device), json_of(handle.handle),
                   json_of(handle.storage_size_bytes), json_of(handle.storage_offset_bytes),
                   json_of(handle.ref_counter_handle), json_of(handle.ref_counter_offset),
                   json_of(handle.event_handle), json_of(handle.event_sync_required)});
}

void add_handle(Json& json, const RawIpcHandle& handle) {
  json["class"] = "RawCudaIPCWrapper";
  json["_ipc_handle_reserved"] = json_of(handle.handle);
  json["_nbytes"] = json_of(handle.nbytes);
  json["handle"] = nullptr;
}

Json json_of(const IpcTensor& tensor) {
  Json json = Json::object();
  std::visit([&json](const auto& handle) { add_handle(json, handle); }, tensor.handle);
  json["dtype"] = tensor.dtype;
  json["shape"] = json_of(tensor.shape);
  json["stride"] = json_of(tensor.stride);
  json["storage_offset"] = json_of(tensor.storage_offset);
  json["device_uuid"] = tensor.device_uuid;
  return json;
}

Json json_of(const TransferResult& result) {
  return Json::array({json_of(result.event_handle), json_of(result.ok)});
}

Json json_of(const Range& range) { return Json::array({json_of(range.start), json_of(range.end)}); }

template <class Values>
Json json_of_list(const Values& values) {
  Json json = Json::array();
  for (const auto& value : values) json.push_back(json_of(value));
  return json;
}

template <class T>
Json json_of(const std::vector<T>& values) {
  return json_of_list(values);
}

}  // namespace

Json to_typed_json(const Value& value) {
  return std::visit([](const auto& held) { return json_of(held); }, value);
}

Json to_typed_json(const IpcTensor& tensor) { return json_of(tensor); }

}  // namespace kvc
