// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Annotate: a msgpack document or a Python pickle as lines of bytes with their meaning, for people
// who write a decoder with the page beside them. Every byte stands in exactly one line; long runs
// are cut with their length said. By hand, because msgpack-cxx does not tell which bytes a value
// came from. Pure; throws std::runtime_error for bytes that are no whole document.
#pragma once

#include <string>
#include <vector>

#include "kvc/protocol/bytes.h"

namespace kvc::conformance {

struct AnnotatedLine {
  std::size_t offset = 0;
  std::size_t size = 0;  // of the bytes that it stands for; of all, where it says "… more"
  int depth = 0;
  std::string bytes;  // in hex, perhaps cut
  std::string meaning;
};

std::vector<AnnotatedLine> annotate_msgpack(ByteView document);
std::vector<AnnotatedLine> annotate_pickle(ByteView pickle);

// As text, the meanings in a column.
std::string annotated_text(const std::vector<AnnotatedLine>& lines);

}  // namespace kvc::conformance
