// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <msgpack.hpp>

#include "conformance/harness/message_text.h"

namespace kvc::conformance {
namespace {

constexpr std::size_t kElementsMax = 8;  // shown of an array or a map
constexpr std::size_t kTextMax = 60;     // characters shown of a str
constexpr std::size_t kBytesMax = 16;    // bytes shown of a bin or an ext
constexpr int kDepthMax = 8;             // shown of what nests

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, kTextMax)) {
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  if (text.size() > kTextMax) out += fmt::format("… {} bytes", text.size());
  return out + "\"";
}

std::string short_hex(const char* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(data);
  std::string out = to_hex({bytes, std::min(size, kBytesMax)});
  if (size > kBytesMax) out += fmt::format("… {} bytes", size);
  return out;
}

std::string words(const msgpack::object& object, int depth) {
  if (depth > kDepthMax) return "…";
  const auto list = [&](std::uint32_t size, auto&& element) {
    std::string out;
    for (std::uint32_t i = 0; i < size && i < kElementsMax; ++i)
      out += (i > 0 ? ", " : "") + element(i);
    if (size > kElementsMax) out += fmt::format(", … {} in all", size);
    return out;
  };
  switch (object.type) {
    case msgpack::type::NIL:
      return "nil";
    case msgpack::type::BOOLEAN:
      return object.via.boolean ? "true" : "false";
    case msgpack::type::POSITIVE_INTEGER:
      return std::to_string(object.via.u64);
    case msgpack::type::NEGATIVE_INTEGER:
      return std::to_string(object.via.i64);
    case msgpack::type::FLOAT32:
    case msgpack::type::FLOAT64:
      return fmt::format("float {}", object.via.f64);
    case msgpack::type::STR:
      return quoted({object.via.str.ptr, object.via.str.size});
    case msgpack::type::BIN:
      return fmt::format("bin({})", short_hex(object.via.bin.ptr, object.via.bin.size));
    case msgpack::type::EXT:
      return fmt::format("ext code {}({})", object.via.ext.type(),
                         short_hex(object.via.ext.data(), object.via.ext.size));
    case msgpack::type::ARRAY:
      return "[" +
             list(object.via.array.size,
                  [&](std::uint32_t i) { return words(object.via.array.ptr[i], depth + 1); }) +
             "]";
    case msgpack::type::MAP:
      return "{" +
             list(object.via.map.size,
                  [&](std::uint32_t i) {
                    const msgpack::object_kv& pair = object.via.map.ptr[i];
                    return words(pair.key, depth + 1) + ": " + words(pair.val, depth + 1);
                  }) +
             "}";
  }
  return "?";
}

}  // namespace

std::string msgpack_in_words(ByteView document) {
  if (document.empty()) return "an empty frame";
  const auto* data = reinterpret_cast<const char*>(document.data());
  const std::string raw = short_hex(data, document.size());
  // Nothing in a document of n bytes is longer than n: a header that says so is refused early.
  const std::size_t most = document.size();
  const msgpack::unpack_limit limit(most, most, most, most, most, 512);
  try {
    std::size_t end = 0;
    const msgpack::object_handle handle =
        msgpack::unpack(data, document.size(), end, nullptr, nullptr, limit);
    std::string text = words(handle.get(), 0);
    if (end < document.size())
      text += fmt::format(" and then {} more bytes ({})", document.size() - end,
                          short_hex(data + end, document.size() - end));
    return text;
  } catch (const msgpack::insufficient_bytes&) {
    return fmt::format("truncated msgpack ({})", raw);
  } catch (const msgpack::size_overflow&) {
    return fmt::format("truncated msgpack, or nested too deep ({})", raw);
  } catch (const std::exception&) {
    return fmt::format("no msgpack ({})", raw);
  }
}

}  // namespace kvc::conformance
