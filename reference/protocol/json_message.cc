// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/json_message.h"

#include <cstddef>
#include <string>

namespace kvc {
namespace {

// The library's reader calls itself for each level. Our messages have about ten.
constexpr std::size_t kDepthMax = 256;

// Looks at the nesting only, and stops the reader where it is too deep.
class DepthCheck : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ <= kDepthMax; }
  bool start_array(std::size_t) override { return ++depth_ <= kDepthMax; }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }

 private:
  bool close() {
    --depth_;
    return true;
  }

  std::size_t depth_ = 0;
};

Json with_each(const Json& json, Json (*change)(const Json&)) {
  if (!json.is_structured()) return json;
  Json out = json;
  for (Json& element : out) element = change(element);
  return out;
}

Json with_typed_bytes(const Json& value) {
  if (value.is_binary()) return {{"bytes", to_hex(ByteView(value.get_binary()))}};
  return with_each(value, with_typed_bytes);
}

}  // namespace

Bytes write_message(const Json& message) {
  Bytes out;
  Json::to_msgpack(message, out);
  return out;
}

std::optional<Json> read_message(ByteView bytes) {
  DepthCheck check;
  if (!Json::sax_parse(bytes.begin(), bytes.end(), &check, Json::input_format_t::msgpack))
    return std::nullopt;
  Json message = Json::from_msgpack(bytes.begin(), bytes.end(), true, false);
  if (message.is_discarded()) return std::nullopt;
  return message;
}

Json message_value(const Json& typed) {
  if (typed.is_object() && typed.size() == 1 && typed.begin().value().is_string()) {
    const std::string tag = typed.begin().key();
    const std::string text = typed.begin().value().get<std::string>();
    if (tag == "enum") return text;
    if (tag == "int") {
      Json number = Json::parse(text, nullptr, false);
      return number.is_number_integer() ? number : typed;
    }
    if (tag == "bytes") {
      Result<Bytes> bytes = from_hex(text);
      return bytes ? Json::binary(std::move(bytes).value()) : typed;
    }
  }
  return with_each(typed, message_value);
}

Json typed_value(WireType type, const Json& value) {
  if (type == WireType::kEngineType) return {{"enum", value}};
  return with_typed_bytes(value);
}

}  // namespace kvc
