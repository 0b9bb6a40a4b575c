// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/decode_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>

#include "conformance/harness/failure_text.h"
#include "conformance/harness/message_text.h"
#include "conformance/harness/replay_file.h"
#include "kvc/protocol/codec.h"
#include "kvc/protocol/envelope.h"

namespace kvc::conformance {
namespace {

Result<Frames> frames_from_hex(const std::string& text) {
  Frames frames;
  std::string part;
  std::istringstream stream(text + "|");
  while (std::getline(stream, part, '|')) {
    Result<Bytes> frame = from_hex(part);
    if (!frame) return frame.error();
    frames.push_back(*std::move(frame));
  }
  return frames;
}

bool is_blank(const std::string& line) {
  return line.find_first_not_of(" \t\r\n") == std::string::npos;
}

// The types of the protocol that a single document can be.
void print_types_of(ByteView frame, std::ostream& out) {
  for (int i = 0; i < kNumWireTypes; ++i) {
    const auto type = static_cast<WireType>(i);
    const Result<Value> value = decode_value(type, frame);
    if (value) out << fmt::format("  as {}: {}\n", to_string(type), describe(*value));
  }
}

void print_frame(const Registry& registry, const Bytes& frame, std::ostream& out) {
  out << fmt::format("one frame of {} bytes: {}\n", frame.size(), msgpack_in_words(frame));
  const Result<const Definition*> type = decode_type_frame(registry, frame);
  if (type)
    out << fmt::format("  as a type frame: {} (group {}, {})\n", to_string((*type)->type),
                       (*type)->group, to_string((*type)->handler));
  print_types_of(frame, out);
}

// Whether [uid][type]… is a request or a response as its type's row has it.
bool is_message(const Registry& registry, std::span<const Bytes> frames) {
  if (frames.size() < 2) return false;
  const Result<const Definition*> type = decode_type_frame(registry, frames[1]);
  if (!type) return false;
  const std::vector<ByteView> rest(frames.begin() + 2, frames.end());
  return decode_payloads(**type, rest).ok() ||
         (rest.size() <= 1 && decode_result(**type, rest).ok());
}

// Any bytes may stand before a uid that reads as a type: what fits as a whole decides.
bool has_identity(const Registry& registry, std::span<const Bytes> frames) {
  if (frames.size() < 3) return false;
  if (!decode_type_frame(registry, frames[1])) return decode_type_frame(registry, frames[2]).ok();
  return !is_message(registry, frames) && is_message(registry, frames.subspan(1));
}

void print_message(const Registry& registry, const Frames& frames, std::ostream& out) {
  out << fmt::format("{} frames: {}\n", frames.size(), frames_hex(frames));
  const Result<const Definition*> type = decode_type_frame(registry, frames[1]);
  if (has_identity(registry, frames)) {
    out << fmt::format("  as at a ROUTER, behind the client's identity {}:\n", to_hex(frames[0]));
    return print_message(registry, {frames.begin() + 1, frames.end()}, out);
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::string what = i == 0 ? "uid" : i == 1 ? "type" : "payload or result";
    out << fmt::format("  {:<18} {}\n", what, msgpack_in_words(frames[i]));
  }
  if (!type) {
    out << fmt::format("  no message of release {}: the type frame: {}\n", registry.release(),
                       type.error().text());
    return;
  }
  const std::vector<ByteView> rest(frames.begin() + 2, frames.end());
  if (decode_payloads(**type, rest))
    out << "  as a request:  " << describe_request(registry, frames) << "\n";
  else
    out << "  as a request:  no: " << decode_payloads(**type, rest).error().text() << "\n";
  const Result<Value> result = decode_result(**type, rest);
  if (result && frames.size() <= 3)
    out << "  as a response: " << describe_response(registry, frames) << "\n";
  else
    out << "  as a response: no: " << (result ? "more than three frames" : result.error().text())
        << "\n";
}

void print_frames(const Registry& registry, const Frames& frames, std::ostream& out) {
  if (frames.size() == 1)
    print_frame(registry, frames[0], out);
  else
    print_message(registry, frames, out);
}

bool decode_file(const Registry& registry, const std::string& path, std::ostream& out) {
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  if (is_replay(content) || is_golden_messages(content)) {
    const Result<ReplayFile> replay = read_replay_or_golden(content);
    if (!replay) {
      out << path << ": " << replay.error().text() << "\n";
      return false;
    }
    out << fmt::format("a replay file: {} messages; case {}, {}\n", replay->entries.size(),
                       replay->header.id.empty() ? "none" : replay->header.id,
                       replay->header.verdict.empty() ? "no verdict" : replay->header.verdict);
    for (const TraceEntry& entry : replay->entries)
      out << trace_line(entry, registry, 1000) << "\n";
    return true;
  }
  // Hex, a message a line; else the file is a frame.
  std::vector<Frames> messages;
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    if (is_blank(line)) continue;
    Result<Frames> frames = frames_from_hex(line);
    if (!frames) {
      messages.clear();
      break;
    }
    messages.push_back(*std::move(frames));
  }
  if (messages.empty()) messages.push_back({to_bytes(as_bytes(content))});
  for (const Frames& frames : messages) print_frames(registry, frames, out);
  return true;
}

}  // namespace

bool decode_command(const Registry& registry, const std::string& input, std::ostream& out) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(input, ignored)) return decode_file(registry, input, out);
  const Result<Frames> frames = frames_from_hex(input);
  if (!frames) {
    out << fmt::format("'{}' is no file, and no hex: {}\n", input, frames.error().text());
    return false;
  }
  print_frames(registry, *frames, out);
  return true;
}

}  // namespace kvc::conformance
