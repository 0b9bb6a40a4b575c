// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/cases/testee/golden_data.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "golden/golden_files.h"
#include "kvc/protocol/json_message.h"

namespace kvc::conformance {
namespace {

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

bool is_sole(const Json& json, const char* key) {
  return json.is_object() && json.size() == 1 && json.contains(key);
}

}  // namespace

const Json& GoldenLine::at(const char* key) const {
  const auto found = json.is_object() ? json.find(key) : json.end();
  if (!json.is_object() || found == json.end())
    throw GoldenError(fmt::format("{}: there is no \"{}\"", place, key));
  return *found;
}

std::string GoldenLine::text(const char* key) const {
  const Json& value = at(key);
  if (!value.is_string()) throw GoldenError(fmt::format("{}: \"{}\" is no text", place, key));
  return value.get<std::string>();
}

Bytes GoldenLine::bytes(const char* key) const {
  Result<Bytes> bytes = from_hex(text(key));
  if (!bytes)
    throw GoldenError(fmt::format("{}: \"{}\" is no hex: {}", place, key, bytes.error().message));
  return std::move(bytes).value();
}

GoldenData::GoldenData(std::string_view release, std::string folder)
    : release_(release), folder_(std::move(folder)) {}

std::string GoldenData::read(const std::string& path) const {
  if (folder_.empty()) {
    for (const EmbeddedFile& file : golden_files(release_))
      if (file.path == path) return std::string(file.text);
    throw GoldenError(fmt::format("golden/{}/{} is not in this build", release_, path));
  }
  std::ifstream file(folder_ + "/" + path, std::ios::binary);
  if (!file) throw GoldenError("cannot read " + folder_ + "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string GoldenData::place(const std::string& path, std::size_t line) const {
  return fmt::format("{}/{}:{}", folder_.empty() ? "golden/" + release_ : folder_, path, line);
}

Json GoldenData::parse(const std::string& path, std::size_t line, std::string_view text) const {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw GoldenError(fmt::format("{}: no JSON: {}", place(path, line), error.what()));
  }
}

const GoldenLines& GoldenData::lines(const std::string& path) {
  const auto found = lines_.find(path);
  if (found != lines_.end()) return found->second;
  const std::string text = read(path);
  GoldenLines out;
  std::size_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    GoldenLine parsed{place(path, number), parse(path, number, line)};
    if (!parsed.json.is_object()) throw GoldenError(parsed.place + ": no object");
    if (number == 1)
      out.header = std::move(parsed);
    else
      out.lines.push_back(std::move(parsed));
  }
  if (number == 0) throw GoldenError(place(path, 1) + ": the file is empty");
  if (out.header.at("count") != out.lines.size())
    throw GoldenError(fmt::format("{}: it says {} lines, and has {}", out.header.place,
                                  out.header.at("count").dump(), out.lines.size()));
  return lines_.emplace(path, std::move(out)).first->second;
}

// One item a line, as the generator writes it; an item is parsed with its line at hand.
const GoldenData::Document& GoldenData::document(const std::string& path) {
  const auto found = documents_.find(path);
  if (found != documents_.end()) return found->second;
  const std::string text = read(path);
  Document out;
  std::vector<GoldenLine>* list = nullptr;
  std::size_t number = 0;
  for (std::string_view line : split_lines(text)) {
    ++number;
    if (line.ends_with(',')) line.remove_suffix(1);
    if (line == "{" || line == "}") continue;
    if (line == "]") {
      list = nullptr;
    } else if (list != nullptr) {
      list->push_back({place(path, number), parse(path, number, line)});
    } else if (line.ends_with("[")) {
      const Json named = parse(path, number, "{" + std::string(line) + "]}");
      list = &out.lists[named.begin().key()];
    } else {
      const Json named = parse(path, number, "{" + std::string(line) + "}");
      if (named.contains("header")) out.header = {place(path, number), named["header"]};
    }
  }
  if (out.header.json.contains("count")) {
    const std::size_t count = out.lists.empty() ? 0 : out.lists.begin()->second.size();
    if (out.header.json["count"] != count)
      throw GoldenError(fmt::format("{}: it says {} items, and has {}", out.header.place,
                                    out.header.json["count"].dump(), count));
  }
  return documents_.emplace(path, std::move(out)).first->second;
}

const std::vector<GoldenLine>& GoldenData::list(const std::string& path, const std::string& name) {
  const Document& whole = document(path);
  const auto found = whole.lists.find(name);
  if (found == whole.lists.end())
    throw GoldenError(fmt::format("{}: there is no list \"{}\"", place(path, 1), name));
  return found->second;
}

const GoldenLine& GoldenData::header(const std::string& path) { return document(path).header; }

Json pipe_bytes(ByteView bytes) { return Json::binary(to_bytes(bytes)); }

Json pipe_value(const Json& typed) { return message_value(typed); }

Json without_any(const Json& json) {
  if (is_sole(json, "any"))
    return {{"bytes", std::string(2 * json["any"].get<std::size_t>(), '0')}};
  if (!json.is_structured()) return json;
  Json out = json;
  for (Json& element : out) element = without_any(element);
  return out;
}

Bytes message_frame(const GoldenLine& line, const Json& frame) {
  std::string hex;
  const Json pieces = frame.is_array() ? frame : Json::array({frame});
  for (const Json& piece : pieces) {
    if (is_sole(piece, "any"))
      hex += std::string(2 * piece["any"].get<std::size_t>(), '0');
    else if (piece.is_string())
      hex += piece.get<std::string>();
    else
      throw GoldenError(line.place + ": a frame that is no hex");
  }
  Result<Bytes> bytes = from_hex(hex);
  if (!bytes) throw GoldenError(line.place + ": a frame that is no hex");
  return std::move(bytes).value();
}

}  // namespace kvc::conformance
