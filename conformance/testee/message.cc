// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <algorithm>
#include <exception>

#include "conformance/testee/testee.h"

namespace kvc::conformance {
namespace {

bool has_text(const Json& map, const char* key) {
  return map.contains(key) && map[key].is_string();
}

void append_text(const Json& value, std::string& out, std::size_t bytes_max) {
  if (out.size() > bytes_max) return;
  if (value.is_binary()) {
    const auto& binary = value.get_binary();
    const std::size_t shown = std::min<std::size_t>(binary.size(), bytes_max / 2);
    out += "h'" + to_hex(ByteView(binary.data(), shown)) + (shown < binary.size() ? "…'" : "'");
  } else if (value.is_array() || value.is_object()) {
    const bool is_map = value.is_object();
    out += is_map ? "{" : "[";
    bool first = true;
    for (const auto& [key, element] : value.items()) {
      if (!first) out += ", ";
      first = false;
      if (is_map) out += key + ": ";
      append_text(element, out, bytes_max);
      if (out.size() > bytes_max) return;
    }
    out += is_map ? "}" : "]";
  } else {
    out += value.is_null() ? "nil" : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

}  // namespace

std::variant<TesteeReply, std::string> reply_of(const Json& message) {
  if (!message.is_object() || message.size() != 1)
    return "a reply that is no map of one entry: " + text_of(message);
  TesteeReply reply;
  if (message.contains("ok")) {
    reply.value = message["ok"];
    return reply;
  }
  if (has_text(message, "unimplemented")) {
    reply.kind = TesteeReply::Kind::kUnimplemented;
    reply.message = message["unimplemented"].get<std::string>();
    return reply;
  }
  if (!message.contains("error") || !message["error"].is_object())
    return "a reply without ok, error or unimplemented: " + text_of(message);
  const Json& error = message["error"];
  for (const char* key : {"kind", "path", "message"})
    if (error.contains(key) && !error[key].is_string())
      return std::string("an error whose ") + key + " is no str: " + text_of(error);
  reply.kind = TesteeReply::Kind::kError;
  reply.error = error.value("kind", "");
  reply.path = error.value("path", "");
  reply.message = error.value("message", "");
  return reply;
}

std::string text_of(const Json& value, std::size_t bytes_max) {
  std::string out;
  append_text(value, out, bytes_max);
  if (out.size() <= bytes_max + 8) return out;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0U) == 0x80U) --end;
  return out.substr(0, end) + "…";
}

std::string TesteeReply::text() const {
  switch (kind) {
    case Kind::kOk:
      return text_of(value);
    case Kind::kError:
      return "an error (" + error + (path.empty() ? "" : " at " + path) +
             (message.empty() ? ")" : "): " + message);
    case Kind::kUnimplemented:
      return "unimplemented: " + message;
  }
  return "";
}

}  // namespace kvc::conformance
