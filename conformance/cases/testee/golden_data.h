// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// GoldenData: the lines of golden/ with their places, from the binary or from a folder. Files are
// parsed when first asked for and kept. A file that is not what golden/README.md says throws
// GoldenError, with the line. One thread.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kvc/protocol/typed_json.h"

namespace kvc::conformance {

class GoldenError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One line, or one item of a .json file: "golden/0.4.5/accept/key.jsonl:17" and what it says.
struct GoldenLine {
  std::string place;
  Json json;

  bool has(const char* key) const { return json.contains(key); }
  // These throw GoldenError when there is no such thing.
  const Json& at(const char* key) const;
  std::string text(const char* key) const;
  Bytes bytes(const char* key) const;  // of hex
};

struct GoldenLines {
  GoldenLine header;
  std::vector<GoldenLine> lines;
};

class GoldenData {
 public:
  // `folder` empty: what is in the binary.
  GoldenData(std::string_view release, std::string folder);

  // A .jsonl file.
  const GoldenLines& lines(const std::string& path);
  // A list of a .json file: ("registry.json", "definitions").
  const std::vector<GoldenLine>& list(const std::string& path, const std::string& name);
  // "0.4.5", of its registry.json.
  const GoldenLine& header(const std::string& path);

 private:
  struct Document {
    GoldenLine header;
    std::map<std::string, std::vector<GoldenLine>> lists;
  };

  std::string read(const std::string& path) const;
  std::string place(const std::string& path, std::size_t line) const;
  Json parse(const std::string& path, std::size_t line, std::string_view text) const;
  const Document& document(const std::string& path);

  std::string release_;
  std::string folder_;
  std::map<std::string, GoldenLines> lines_;
  std::map<std::string, Document> documents_;
};

// A value of golden/ (typed JSON) as the pipe has it: bytes binary, ints numbers.
Json pipe_value(const Json& typed);
Json pipe_bytes(ByteView bytes);

// Bytes or a value of golden/messages with each {"any": N} filled in with zeros.
Json without_any(const Json& json);
Bytes message_frame(const GoldenLine& line, const Json& frame);

}  // namespace kvc::conformance
