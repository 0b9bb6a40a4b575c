// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/frame_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

namespace kvc::conformance {
namespace {

using Json = nlohmann::ordered_json;

// A short frame is best read as it is.
constexpr std::size_t kPlainBytesMax = 256;
// What is not longer than this is not worth a part of its own.
constexpr std::size_t kRunBytesMin = 64;
// A nested map or a token takes a few bytes.
constexpr std::size_t kPeriodMax = 16;

struct Run {
  std::size_t period = 0;
  std::size_t times = 0;
};

// The run that begins at `at`, if a long one does.
Run run_at(ByteView frame, std::size_t at) {
  if (at + kRunBytesMin > frame.size()) return {};
  const std::uint8_t* const begin = frame.data() + at;
  const std::uint8_t* const last = frame.data() + frame.size();
  for (std::size_t period = 1; period <= kPeriodMax; ++period) {
    const std::uint8_t* end = begin + period;
    while (end != last && *end == *(end - period)) ++end;
    const std::size_t times = static_cast<std::size_t>(end - begin) / period;
    if (times * period >= kRunBytesMin) return {period, times};
  }
  return {};
}

std::optional<std::size_t> size_in(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::size_t>();
}

Result<Bytes> hex_from_json(const Json& json, const std::string& path) {
  if (!json.is_string()) return Error{Errc::kWrongKind, path, "expected hex"};
  Result<Bytes> bytes = from_hex(json.get<std::string>());
  if (!bytes) return Error{bytes.error().code, path, bytes.error().message};
  return bytes;
}

// Appends what one part of a frame stands for.
Result<void> append_part(const Json& part, const std::string& path, std::size_t bytes_left,
                         Bytes& out) {
  const auto too_large = [&] {
    return Error{Errc::kLimit, path, "the messages are larger than is read"};
  };
  if (!part.is_object()) {
    const Result<Bytes> bytes = hex_from_json(part, path);
    if (!bytes) return bytes.error();
    if (bytes->size() > bytes_left) return too_large();
    out.insert(out.end(), bytes->begin(), bytes->end());
    return {};
  }
  if (const std::optional<std::size_t> any = size_in(part, "any")) {
    if (*any > bytes_left) return too_large();
    out.insert(out.end(), *any, 0);
    return {};
  }
  const auto hex = part.find("hex");
  const std::optional<std::size_t> times = size_in(part, "times");
  if (hex == part.end() || !times)
    return Error{Errc::kMissingField, path, "expected {\"hex\": …, \"times\": N} or {\"any\": N}"};
  const Result<Bytes> once = hex_from_json(*hex, path + ".hex");
  if (!once) return once.error();
  if (!once->empty() && *times > bytes_left / once->size()) return too_large();
  if (once->size() == 1)
    out.insert(out.end(), *times, once->front());
  else if (!once->empty())
    for (std::size_t i = 0; i < *times; ++i) out.insert(out.end(), once->begin(), once->end());
  return {};
}

}  // namespace

Json frame_to_json(ByteView frame) {
  if (frame.size() <= kPlainBytesMax) return to_hex(frame);
  Json parts = Json::array();
  std::size_t plain = 0;  // begin of what no part has yet
  for (std::size_t at = 0; at < frame.size();) {
    const Run run = run_at(frame, at);
    if (run.times == 0) {
      ++at;
      continue;
    }
    if (at > plain) parts.push_back(to_hex(frame.subspan(plain, at - plain)));
    parts.push_back(Json{{"hex", to_hex(frame.subspan(at, run.period))}, {"times", run.times}});
    at += run.period * run.times;
    plain = at;
  }
  if (plain == 0) return to_hex(frame);
  if (plain < frame.size()) parts.push_back(to_hex(frame.subspan(plain)));
  return parts;
}

Result<Bytes> frame_from_json(const Json& json, const std::string& path, std::size_t& bytes_left) {
  Bytes out;
  if (!json.is_array()) {
    const Result<void> appended = append_part(json, path, bytes_left, out);
    if (!appended) return appended.error();
  } else {
    for (std::size_t i = 0; i < json.size(); ++i) {
      const Result<void> appended =
          append_part(json[i], fmt::format("{}[{}]", path, i), bytes_left - out.size(), out);
      if (!appended) return appended.error();
    }
  }
  bytes_left -= out.size();
  return out;
}

}  // namespace kvc::conformance
