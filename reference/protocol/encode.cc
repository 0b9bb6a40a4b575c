// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <array>
#include <type_traits>

#include "fields.h"
#include "kvc/protocol/assert.h"
#include "kvc/protocol/codec.h"
#include "kvc/protocol/pickle.h"
#include "writer.h"

namespace kvc {
namespace {

constexpr std::int8_t kPickleExtCode = 1;

void write(Writer& writer, None) { writer.write_nil(); }
void write(Writer& writer, Int value) { writer.write_int(value); }
void write(Writer& writer, bool value) { writer.write_bool(value); }
void write(Writer& writer, const std::string& value) { writer.write_str(value); }
void write(Writer& writer, const Bytes& value) { writer.write_bytes(value); }
void write(Writer& writer, const IntArray& value) { writer.write_int_array(value); }
void write(Writer& writer, EngineType value) { writer.write_str(to_string(value)); }
void write(Writer& writer, KvLayout value) { writer.write_str(to_string(value)); }

void write(Writer& writer, const OptionalInt& value) {
  if (value.has_value()) {
    writer.write_int(*value);
  } else {
    writer.write_nil();
  }
}

// A map of all the fields, in the order of their names.
template <std::size_t kSize, class... T>
void write_fields(Writer& writer, const std::array<std::string_view, kSize>& names,
                  const T&... values) {
  static_assert(sizeof...(values) == kSize);
  writer.write_map(kSize);
  auto name = names.begin();
  ((writer.write_str(*name++), write(writer, values)), ...);
}

void write(Writer& writer, const Key& key) {
  write_fields(writer, kKeyFields, key.model_name, key.world_size, key.worker_id, key.token_ids,
               key.start, key.end, key.request_id, key.cache_salt);
}

void write(Writer& writer, const BlockAllocationRecord& record) {
  write_fields(writer, kRecordFields, record.req_id, record.new_block_ids, record.new_token_ids);
}

void write(Writer& writer, const CBMatchResult& match) {
  write_fields(writer, kMatchFields, match.old_st, match.old_ed, match.cur_st, match.cur_ed,
               match.hash);
}

void write(Writer& writer, const LayoutHints& hints) {
  const std::array<const OptionalInt*, 5> numbers = {nullptr, &hints.num_kv_heads,
                                                     &hints.tokens_per_block, &hints.head_dim,
                                                     &hints.inference_engine_logical_block_size};
  const auto is_there = [&](std::size_t field) {
    return field == 0 ? hints.kv_layout.has_value() : numbers[field]->has_value();
  };
  std::size_t num_fields = 0;
  for (std::size_t field = 0; field < numbers.size(); ++field) num_fields += is_there(field);
  writer.write_map(num_fields);
  for (const std::size_t field : hints.order) {
    KVC_ASSERT(field < numbers.size());
    if (!is_there(field)) continue;
    writer.write_str(kHintFields[field]);
    if (field == 0) {
      write(writer, *hints.kv_layout);
    } else {
      writer.write_int(**numbers[field]);
    }
  }
}

void write(Writer& writer, const IpcTensor& tensor) {
  writer.write_ext(kPickleExtCode, write_pickle(tensor));
}

void write(Writer& writer, const TransferResult& result) {
  writer.write_array(2);
  writer.write_bytes(result.event_handle);
  writer.write_bool(result.ok);
}

void write(Writer& writer, const Range& range) {
  writer.write_array(2);
  writer.write_int(range.start);
  writer.write_int(range.end);
}

template <class T>
void write(Writer& writer, const std::vector<T>& values) {
  writer.write_array(values.size());
  for (const T& value : values) write(writer, value);
}

}  // namespace

template <class T>
void encode(const T& value, Bytes& out) {
  Writer writer(out);
  write(writer, value);
}

template void encode(const None&, Bytes&);
template void encode(const Int&, Bytes&);
template void encode(const bool&, Bytes&);
template void encode(const std::string&, Bytes&);
template void encode(const Bytes&, Bytes&);
template void encode(const OptionalInt&, Bytes&);
template void encode(const Key&, Bytes&);
template void encode(const KVCache&, Bytes&);
template void encode(const EngineType&, Bytes&);
template void encode(const LayoutHints&, Bytes&);
template void encode(const IntArray&, Bytes&);
template void encode(const BlockAllocationRecords&, Bytes&);
template void encode(const TransferResult&, Bytes&);
template void encode(const Ranges&, Bytes&);
template void encode(const CBMatchResults&, Bytes&);

Bytes encode_value(const Value& value) {
  return std::visit([](const auto& held) { return encoded(held); }, value);
}

namespace {

// Value's alternatives stand in the order of WireType.
template <std::size_t... kIndex>
constexpr bool in_order(std::index_sequence<kIndex...>) {
  return ((static_cast<std::size_t>(wire_type_of<std::variant_alternative_t<kIndex, Value>>) ==
           kIndex) &&
          ...);
}
static_assert(std::variant_size_v<Value> == kNumWireTypes);
static_assert(in_order(std::make_index_sequence<kNumWireTypes>()));

}  // namespace

WireType type_of(const Value& value) { return static_cast<WireType>(value.index()); }

}  // namespace kvc
