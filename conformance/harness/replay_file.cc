// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/replay_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

#include "conformance/harness/frame_json.h"
#include "kvc/protocol/envelope.h"

namespace kvc::conformance {
namespace {

using Json = nlohmann::ordered_json;

// Of all frames of a file together.
constexpr std::size_t kReplayBytesMax = std::size_t{1} << 30;

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Frames> frames_of(const Json& json, const std::string& path, std::size_t& bytes_left) {
  if (!json.is_array()) return Error{Errc::kWrongKind, path, "expected a list of frames"};
  Frames out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    Result<Bytes> frame = frame_from_json(json[i], fmt::format("{}[{}]", path, i), bytes_left);
    if (!frame) return frame.error();
    out.push_back(*std::move(frame));
  }
  return out;
}

Result<TraceEntry> entry_of(const Json& json, double t_ms, std::size_t& bytes_left) {
  const auto fail = [](const std::string& path, const std::string& what) {
    return Error{Errc::kBadValue, path, what};
  };
  if (!json.is_object()) return fail("$", "expected an object");
  const auto client = json.find("client");
  const auto dir = json.find("dir");
  const auto frames = json.find("frames");
  if (client == json.end() || !client->is_number_integer()) return fail("$.client", "expected int");
  if (dir == json.end() || (*dir != ">" && *dir != "<")) return fail("$.dir", "expected > or <");
  if (frames == json.end()) return fail("$.frames", "expected a list of frames");
  TraceEntry entry;
  entry.client = client->get<int>();
  entry.sent = *dir == ">";
  entry.t_ms = t_ms;
  if (const auto own = json.find("t_ms"); own != json.end()) {
    if (!own->is_number()) return fail("$.t_ms", "expected a number");
    entry.t_ms = own->get<double>();
  }
  Result<Frames> read = frames_of(*frames, "$.frames", bytes_left);
  if (!read) return read.error();
  entry.frames = *std::move(read);
  return entry;
}

std::string text_at(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

Result<ReplayHeader> header_of(const Json& json) {
  const auto version = json.is_object() ? json.find("kvr") : json.end();
  if (!json.is_object() || version == json.end())
    return Error{Errc::kMissingField, "$.kvr", "expected {\"kvr\": 2, …}"};
  if (!version->is_number_integer() || *version < 1 || *version > kReplayVersion)
    return Error{Errc::kUnsupported, "$.kvr",
                 fmt::format("another version than 1 to {}", kReplayVersion)};
  ReplayHeader header{text_at(json, "case"),     text_at(json, "release"), text_at(json, "verdict"),
                      text_at(json, "expected"), text_at(json, "actual"),  0};
  const auto seed = json.find("seed");
  if (seed != json.end() && seed->is_number_unsigned()) header.seed = seed->get<std::uint64_t>();
  return header;
}

// Calls visit(number, document) for each line that is not blank, the first being 1.
Result<void> for_each_line(const std::string& text,
                           const std::function<Result<void>(int, const Json&)>& visit) {
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string place = fmt::format("line {}", number);
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) return Error{Errc::kMalformed, place, "no JSON"};
    const Result<void> visited = visit(number, json);
    if (!visited)
      return Error{visited.error().code, place + ": " + visited.error().path,
                   visited.error().message};
  }
  if (number == 0) return Error{Errc::kTruncated, "line 1", "the file is empty"};
  return {};
}

bool begins_with(const std::string& text, std::string_view key) {
  const std::string_view line = std::string_view(text).substr(0, text.find('\n'));
  const Json json = Json::parse(line, nullptr, false);
  return json.is_object() && json.contains(key);
}

}  // namespace

std::string write_replay_header(const ReplayHeader& header) {
  const Registry* const known = find_registry(header.release);
  const Registry& registry = known == nullptr ? registry_0_4_5() : *known;
  return line_of({{"kvr", kReplayVersion},
                  {"case", header.id},
                  {"release", header.release},
                  {"verdict", header.verdict},
                  {"expected", header.expected},
                  {"actual", header.actual},
                  {"seed", header.seed},
                  {"alive", {"00", to_hex(encode_type_frame(registry, RequestType::kNoop))}}});
}

std::string write_replay_entry(const TraceEntry& entry) {
  Json frames = Json::array();
  for (const Bytes& frame : entry.frames) frames.push_back(frame_to_json(frame));
  return line_of({{"t_ms", entry.t_ms},
                  {"client", entry.client},
                  {"dir", entry.sent ? ">" : "<"},
                  {"frames", frames}});
}

std::string write_replay(const ReplayFile& replay) {
  std::string out = write_replay_header(replay.header);
  for (const TraceEntry& entry : replay.entries) out += write_replay_entry(entry);
  return out;
}

Result<ReplayFile> read_replay(const std::string& text) {
  ReplayFile out;
  bool has_header = false;
  double t_ms = 0;
  std::size_t bytes_left = kReplayBytesMax;
  const Result<void> read = for_each_line(text, [&](int, const Json& json) -> Result<void> {
    if (!has_header) {
      Result<ReplayHeader> header = header_of(json);
      if (!header) return header.error();
      out.header = *std::move(header);
      has_header = true;
      return {};
    }
    Result<TraceEntry> entry = entry_of(json, t_ms, bytes_left);
    if (!entry) return entry.error();
    t_ms = entry->t_ms;
    out.entries.push_back(*std::move(entry));
    return {};
  });
  if (!read) return read.error();
  if (!has_header) return Error{Errc::kTruncated, "line 1", "the file is empty"};
  return out;
}

bool is_replay(const std::string& text) { return begins_with(text, "kvr"); }

bool is_golden_messages(const std::string& text) { return begins_with(text, "kvconform"); }

Result<ReplayFile> read_golden_messages(const std::string& text) {
  ReplayFile out;
  std::size_t bytes_left = kReplayBytesMax;
  const Result<void> read = for_each_line(text, [&](int number, const Json& json) -> Result<void> {
    if (number == 1) {
      out.header.id = "golden messages";
      out.header.release = text_at(json, "release");
      out.header.expected = text_at(json, "how");
      return {};
    }
    for (const bool sent : {true, false}) {
      const char* const name = sent ? "request" : "reply";
      const auto json_frames = json.is_object() ? json.find(name) : json.end();
      if (!json.is_object() || json_frames == json.end())
        return Error{Errc::kMissingField, fmt::format("$.{}", name), "expected a list of frames"};
      if (!sent && json_frames->is_null()) continue;  // no reply is due
      Result<Frames> frames = frames_of(*json_frames, fmt::format("$.{}", name), bytes_left);
      if (!frames) return frames.error();
      out.entries.push_back({static_cast<double>(out.entries.size()), 1, sent, *std::move(frames)});
    }
    return {};
  });
  if (!read) return read.error();
  return out;
}

Result<ReplayFile> read_replay_or_golden(const std::string& text) {
  return is_golden_messages(text) ? read_golden_messages(text) : read_replay(text);
}

}  // namespace kvc::conformance
