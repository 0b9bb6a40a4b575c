// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <algorithm>
#include <charconv>
#include <utility>

#include "fields.h"
#include "kvc/protocol/typed_json.h"
#include "path.h"

namespace kvc {
namespace {

// Every read answers false after it has set `error`.
class JsonReader {
 public:
  Error error;

  bool read(const Path& path, const Json& json, None&) {
    return json.is_null() || wrong(path, "null", json);
  }

  bool read(const Path& path, const Json& json, bool& out) {
    if (!json.is_boolean()) return wrong(path, "bool", json);
    out = json.get<bool>();
    return true;
  }

  bool read(const Path& path, const Json& json, Int& out) {
    if (json.is_number_unsigned()) {
      out = json.get<std::uint64_t>();
      return true;
    }
    if (json.is_number_integer()) {
      out = json.get<std::int64_t>();
      return true;
    }
    std::string text;
    if (!read_tag(json, "int", text)) return wrong(path, "int", json);
    return (text.starts_with('-') ? parse<std::int64_t>(text, out)
                                  : parse<std::uint64_t>(text, out)) ||
           fail(Errc::kBadValue, path, "no integer of 64 bits: " + text);
  }

  bool read(const Path& path, const Json& json, OptionalInt& out) {
    if (json.is_null()) {
      out.reset();
      return true;
    }
    return read(path, json, out.emplace());
  }

  bool read(const Path& path, const Json& json, std::string& out) {
    if (!json.is_string()) return wrong(path, "str", json);
    out = json.get<std::string>();
    return true;
  }

  bool read(const Path& path, const Json& json, Bytes& out) {
    std::string text;
    if (!read_tag(json, "bytes", text)) return wrong(path, "{\"bytes\": …}", json);
    Result<Bytes> bytes = from_hex(text);
    if (!bytes.ok()) return fail(bytes.error().code, path, bytes.error().message);
    out = std::move(bytes).value();
    return true;
  }

  bool read(const Path& path, const Json& json, EngineType& out) {
    std::string text;
    if (!read_tag(json, "enum", text)) return wrong(path, "{\"enum\": …}", json);
    const std::optional<EngineType> type = parse_engine_type(text);
    if (!type.has_value()) return fail(Errc::kBadValue, path, "no such engine type");
    out = *type;
    return true;
  }

  bool read(const Path& path, const Json& json, KvLayout& out) {
    std::string text;
    if (!read(path, json, text)) return false;
    const std::optional<KvLayout> layout = parse_kv_layout(text);
    if (!layout.has_value()) return fail(Errc::kBadValue, path, "expected NHD or HND");
    out = *layout;
    return true;
  }

  bool read(const Path& path, const Json& json, IntArray& out) {
    std::vector<Int> values;
    if (!read(path, json, values)) return false;
    out = IntArray::of(values);
    return true;
  }

  bool read(const Path& path, const Json& json, Key& out) {
    return read_fields(path, json, kKeyFields, out.model_name, out.world_size, out.worker_id,
                       out.token_ids, out.start, out.end, out.request_id, out.cache_salt);
  }

  bool read(const Path& path, const Json& json, BlockAllocationRecord& out) {
    return read_fields(path, json, kRecordFields, out.req_id, out.new_block_ids, out.new_token_ids);
  }

  bool read(const Path& path, const Json& json, CBMatchResult& out) {
    return read_fields(path, json, kMatchFields, out.old_st, out.old_ed, out.cur_st, out.cur_ed,
                       out.hash);
  }

  bool read(const Path& path, const Json& json, LayoutHints& out) {
    if (!json.is_object()) return wrong(path, "object", json);
    const std::array<OptionalInt*, 5> numbers = {nullptr, &out.num_kv_heads, &out.tokens_per_block,
                                                 &out.head_dim,
                                                 &out.inference_engine_logical_block_size};
    HintOrder order;
    for (const auto& [name, value] : json.items()) {
      const auto found = std::ranges::find(kHintFields, name);
      if (found == kHintFields.end()) return fail(Errc::kUnknownName, path, "no field " + name);
      const auto field = static_cast<std::size_t>(found - kHintFields.begin());
      const Path at = path.field(*found);
      if (field == 0 ? !read(at, value, out.kv_layout.emplace())
                     : !read(at, value, numbers[field]->emplace())) {
        return false;
      }
      order.add(field);
    }
    out.order = order.finish();
    return true;
  }

  bool read(const Path& path, const Json& json, TransferResult& out) {
    return read_tuple(path, json, out.event_handle, out.ok);
  }

  bool read(const Path& path, const Json& json, Range& out) {
    return read_tuple(path, json, out.start, out.end);
  }

  bool read(const Path& path, const Json& json, IpcTensor& out) {
    std::string name;
    if (!read_field(path, json, "class", name) || !read_handle(path, json, name, out)) return false;
    return read_field(path, json, "dtype", out.dtype) &&
           read_field(path, json, "shape", out.shape) &&
           read_field(path, json, "stride", out.stride) &&
           read_field(path, json, "storage_offset", out.storage_offset) &&
           read_field(path, json, "device_uuid", out.device_uuid);
  }

  template <class T>
  bool read(const Path& path, const Json& json, std::vector<T>& out) {
    if (!json.is_array()) return wrong(path, "array", json);
    for (std::size_t i = 0; i < json.size(); ++i) {
      if (!read(path.element(i), json[i], out.emplace_back())) return false;
    }
    return true;
  }

 private:
  bool fail(Errc code, const Path& path, std::string message) {
    error = {code, path.text(), std::move(message)};
    return false;
  }

  bool wrong(const Path& path, const char* expected, const Json& actual) {
    return fail(Errc::kWrongKind, path,
                std::string("expected ") + expected + ", got " + actual.type_name());
  }

  // {"tag": "text"}
  static bool read_tag(const Json& json, const char* tag, std::string& out) {
    if (!json.is_object() || json.size() != 1 || !json.contains(tag)) return false;
    if (!json[tag].is_string()) return false;
    out = json[tag].get<std::string>();
    return true;
  }

  template <class T>
  static bool parse(std::string_view text, Int& out) {
    T number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || end != text.data() + text.size()) return false;
    out = number;
    return true;
  }

  template <class T>
  bool read_field(const Path& path, const Json& json, std::string_view name, T& out) {
    if (!json.is_object()) return wrong(path, "object", json);
    const auto found = json.find(std::string(name));
    if (found == json.end()) {
      return fail(Errc::kMissingField, path, "missing required field " + std::string(name));
    }
    return read(path.field(name), *found, out);
  }

  template <std::size_t kSize, class... T>
  bool read_fields(const Path& path, const Json& json,
                   const std::array<std::string_view, kSize>& names, T&... out) {
    static_assert(sizeof...(out) == kSize);
    auto name = names.begin();
    return (read_field(path, json, *name++, out) && ...);
  }

  template <class... T>
  bool read_tuple(const Path& path, const Json& json, T&... out) {
    if (!json.is_array()) return wrong(path, "array", json);
    if (json.size() != sizeof...(out)) {
      return fail(Errc::kWrongLength, path,
                  "expected array of length " + std::to_string(sizeof...(out)));
    }
    std::size_t index = 0;
    const auto read_next = [&](auto& each) {
      const std::size_t at = index++;
      return read(path.element(at), json[at], each);
    };
    return (read_next(out) && ...);
  }

  bool read_handle(const Path& path, const Json& json, const std::string& name, IpcTensor& out) {
    if (name == "RawCudaIPCWrapper") {
      RawIpcHandle& handle = out.handle.emplace<RawIpcHandle>();
      return read_field(path, json, "_ipc_handle_reserved", handle.handle) &&
             read_field(path, json, "_nbytes", handle.nbytes);
    }
    if (name != "CudaIPCWrapper") return fail(Errc::kUnknownName, path, "no class " + name);
    TorchIpcHandle& handle = out.handle.emplace<TorchIpcHandle>();
    return json.contains("handle")
               ? read_tuple(path.field("handle"), json["handle"], handle.device, handle.handle,
                            handle.storage_size_bytes, handle.storage_offset_bytes,
                            handle.ref_counter_handle, handle.ref_counter_offset,
                            handle.event_handle, handle.event_sync_required)
               : fail(Errc::kMissingField, path, "missing required field handle");
  }
};

// A Value whose alternative is that of the type.
template <std::size_t kIndex = 0>
Value empty_value(std::size_t index) {
  if constexpr (kIndex < std::variant_size_v<Value>) {
    if (index == kIndex) return Value(std::in_place_index<kIndex>);
    return empty_value<kIndex + 1>(index);
  } else {
    KVC_ASSERT(false);
  }
}

}  // namespace

Result<Value> from_typed_json(WireType type, const Json& json) {
  Value value = empty_value(static_cast<std::size_t>(type));
  JsonReader reader;
  const bool ok = std::visit([&](auto& held) { return reader.read(Path{}, json, held); }, value);
  if (!ok) return reader.error;
  return value;
}

}  // namespace kvc
