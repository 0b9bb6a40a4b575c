// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/cases/testee/frames.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/harness/message_text.h"
#include "kvc/protocol/codec.h"

namespace kvc::conformance {
namespace {

using Names = std::function<std::string(std::size_t)>;

Names names_of(const LineRefs& lines) {
  return [&lines](std::size_t i) { return where_of(*lines[i]); };
}

std::vector<TesteeReply> decode_all(Case& test, const Position& position, const LineRefs& lines) {
  std::vector<Placed> items;
  for (const GoldenLine* line : lines)
    items.push_back(position.place(pipe_bytes(line->bytes("hex"))));
  return test.testee().ask_all("decode", items, names_of(lines));
}

const GoldenLines& of_type(GoldenData& golden, WireType wire, const char* verdict) {
  const GoldenLines& lines = golden.lines(fmt::format("{}/{}.jsonl", verdict, file_stem(wire)));
  if (lines.header.text("type") != to_string(wire) || lines.header.text("verdict") != verdict)
    throw GoldenError(fmt::format("{}: expected type {} and verdict {}", lines.header.place,
                                  to_string(wire), verdict));
  return lines;
}

std::size_t first_other_byte(ByteView a, ByteView b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                  a.begin());
}

std::string excerpt(ByteView bytes, std::size_t at) {
  const std::size_t first = at < 8 ? 0 : at - 8;
  const std::size_t count = std::min<std::size_t>(bytes.size() - std::min(first, bytes.size()), 24);
  return (first > 0 ? "…" : "") + to_hex(bytes.subspan(std::min(first, bytes.size()), count)) +
         (first + count < bytes.size() ? "…" : "");
}

// What the bytes say, by our own decoder: encodings that are no rule are compared by it.
std::optional<Difference> value_difference(WireType wire, const Json& value, ByteView bytes) {
  const Result<Value> decoded = decode_value(wire, bytes);
  if (!decoded) return Difference{"$", text_of(value), decoded.error().text()};
  return first_difference(value, pipe_value(to_typed_json(*decoded)));
}

}  // namespace

LineRefs all_of(const GoldenLines& lines) { return sample_of(lines, lines.lines.size()); }

LineRefs sample_of(const GoldenLines& lines, std::size_t count) {
  LineRefs out;
  const std::size_t size = lines.lines.size();
  count = std::min(count, size);
  for (std::size_t i = 0; i < count; ++i) out.push_back(&lines.lines[i * size / count]);
  return out;
}

std::string where_of(const GoldenLine& line) {
  for (const char* key : {"encoding", "mutation", "name", "about"})
    if (line.json.contains(key) && line.json[key].is_string())
      return fmt::format("{} ({})", line.place, line.json[key].get<std::string>());
  return line.place;
}

const GoldenLines& accepted(GoldenData& golden, WireType wire) {
  return of_type(golden, wire, "accept");
}
const GoldenLines& refused(GoldenData& golden, WireType wire) {
  return of_type(golden, wire, "reject");
}

void expect_decodes(Case& test, const Position& position, const LineRefs& lines,
                    Differences& differences) {
  const std::vector<TesteeReply> replies = decode_all(test, position, lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    differences.expect_implemented(replies[i], "decode");
    differences.expect_value(where_of(*lines[i]), pipe_value(lines[i]->at("value")), replies[i]);
  }
}

std::optional<Difference> encoding_difference(WireType wire, const Json& value,
                                              const Bytes& expected, const Json& actual) {
  if (!actual.is_binary()) return Difference{"$", "bytes", text_of(actual)};
  const auto& bytes = static_cast<const Bytes&>(actual.get_binary());
  if (wire == WireType::kKVCache) return value_difference(wire, value, bytes);
  if (wire == WireType::kLayoutHints && bytes.size() == expected.size())
    return value_difference(wire, value, bytes);
  if (bytes == expected) return std::nullopt;
  const std::size_t at = first_other_byte(expected, bytes);
  const auto told = [&](ByteView whole) {
    return fmt::format("{} (byte {} of {}), {}", excerpt(whole, at), at, whole.size(),
                       msgpack_in_words(whole).substr(0, 200));
  };
  return Difference{"$", told(expected), told(bytes)};
}

void expect_encodes(Case& test, const Position& position, const GoldenLines& file,
                    const LineRefs& lines, Differences& differences) {
  const std::string rule = file.header.has("emit") ? file.header.text("emit") : "";
  const WireType wire = position.wire();
  const std::string known = wire == WireType::kKVCache       ? "by value"
                            : wire == WireType::kLayoutHints ? "any map order"
                                                             : "";
  if (rule != known)
    throw GoldenError(fmt::format("{}: \"emit\" is \"{}\" where \"{}\" is known", file.header.place,
                                  rule, known));
  std::vector<Placed> items;
  for (const GoldenLine* line : lines)
    items.push_back(position.place(pipe_value(line->at("value"))));
  const std::vector<TesteeReply> replies = test.testee().ask_all("encode", items, names_of(lines));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    differences.expect_implemented(replies[i], "encode");
    differences.checked();
    const Bytes emit = lines[i]->bytes(lines[i]->has("emit") ? "emit" : "hex");
    if (!replies[i].ok()) {
      differences.add(where_of(*lines[i]), to_hex(emit), replies[i].text());
    } else if (const auto found =
                   encoding_difference(wire, items[i].content, emit, replies[i].value)) {
      differences.add(where_of(*lines[i]) + (found->path == "$" ? "" : " " + found->path),
                      found->expected, found->actual);
    }
  }
}

void expect_refuses(Case& test, const Position& position, const LineRefs& lines,
                    Differences& differences) {
  const std::vector<TesteeReply> replies = decode_all(test, position, lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    differences.expect_implemented(replies[i], "decode");
    differences.expect_error(where_of(*lines[i]), {}, lines[i]->text("error"), replies[i]);
  }
}

void expect_places_faults(Case& test, const Position& position, const LineRefs& lines,
                          Differences& differences) {
  const std::vector<TesteeReply> replies = decode_all(test, position, lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const GoldenLine& line = *lines[i];
    differences.expect_implemented(replies[i], "decode");
    if (replies[i].ok() || line.text("kind") != "ValidationError") continue;
    const std::string words = line.text("error");
    // An Ext that is a timestamp is opened by the real decoder only.
    if (words.starts_with("Invalid MessagePack timestamp")) continue;
    std::string path = replies[i].path;
    if (path.starts_with("key in ")) path = path.substr(7);  // a bad key has the map's path
    // The class checks its salt itself, and names the field in words only.
    if (words.starts_with("cache_salt ") && path == "$.cache_salt") path = line.text("path");
    differences.checked();
    if (path != line.text("path"))
      differences.add(where_of(line), fmt::format("a fault at {} ({})", line.text("path"), words),
                      replies[i].text());
  }
}

}  // namespace kvc::conformance
