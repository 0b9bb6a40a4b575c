// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/replay_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace kvc::conformance {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<TraceEntry> entry_of(const Json& json) {
  const auto fail = [](const std::string& what) { return Error{Errc::kBadValue, "", what}; };
  if (!json.is_object()) return fail("expected an object");
  const auto client = json.find("client");
  const auto dir = json.find("dir");
  const auto frames = json.find("frames");
  if (client == json.end() || !client->is_number_integer()) return fail("expected an int 'client'");
  if (dir == json.end() || (*dir != ">" && *dir != "<")) return fail("expected 'dir' > or <");
  if (frames == json.end() || !frames->is_array()) return fail("expected a list 'frames'");
  TraceEntry entry;
  entry.client = client->get<int>();
  entry.sent = *dir == ">";
  const auto t_ms = json.find("t_ms");
  if (t_ms != json.end() && t_ms->is_number()) entry.t_ms = t_ms->get<double>();
  for (const Json& frame : *frames) {
    if (!frame.is_string()) return fail("expected frames in hex");
    Result<Bytes> bytes = from_hex(frame.get<std::string>());
    if (!bytes) return bytes.error();
    entry.frames.push_back(*std::move(bytes));
  }
  return entry;
}

std::string text_at(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::string write_replay_header(const ReplayHeader& header) {
  return line_of({{"kvr", kReplayVersion},
                  {"case", header.id},
                  {"release", header.release},
                  {"verdict", header.verdict},
                  {"expected", header.expected},
                  {"actual", header.actual},
                  {"seed", header.seed}});
}

std::string write_replay_entry(const TraceEntry& entry) {
  Json frames = Json::array();
  for (const Bytes& frame : entry.frames) frames.push_back(to_hex(frame));
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
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const auto fail = [&](const std::string& what) {
      return Error{Errc::kMalformed, fmt::format("line {}", number), what};
    };
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) return fail("no JSON");
    if (number == 1) {
      const auto version = json.is_object() ? json.find("kvr") : json.end();
      if (!json.is_object() || version == json.end()) return fail("expected {\"kvr\": 1, …}");
      if (*version != kReplayVersion) return fail("another version than 1");
      out.header = {text_at(json, "case"),     text_at(json, "release"), text_at(json, "verdict"),
                    text_at(json, "expected"), text_at(json, "actual"),  0};
      const auto seed = json.find("seed");
      if (seed != json.end() && seed->is_number_unsigned())
        out.header.seed = seed->get<std::uint64_t>();
      continue;
    }
    Result<TraceEntry> entry = entry_of(json);
    if (!entry) return fail(entry.error().text());
    out.entries.push_back(*std::move(entry));
  }
  if (number == 0) return Error{Errc::kTruncated, "line 1", "the file is empty"};
  return out;
}

}  // namespace kvc::conformance
