// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend paragraphs: how the cases of the first generation make documents and queries, whether the
// server's paragraphs are between patterns or the whole query is one.
#pragma once

#include <vector>

#include "conformance/harness/blend_player.h"

namespace kvc::conformance {

// Where a paragraph is in a query: tokens [start, end).
struct Span {
  std::size_t start = 0;
  std::size_t end = 0;
};

class Paragraphs {
 public:
  Paragraphs(Case& test, BlendPlayer& player);

  const Tokens& start() const { return start_; }  // empty: no patterns
  const Tokens& end() const { return end_; }

  // One paragraph of exactly `num_chunks` chunks and `num_more` tokens, patterns included.
  Tokens document(std::size_t num_chunks, std::size_t num_more = 0);

  struct Query {
    Tokens tokens;
    std::size_t start = 0;  // of the paragraph
  };
  // A query that holds this paragraph, behind `before` other tokens if there can be others.
  Query around(const Tokens& document, std::size_t before = 5);

  // The slow, obvious answer: the paragraphs of a query.
  std::vector<Span> of(const Tokens& query) const;

 private:
  BlendPlayer& player_;
  Tokens start_;
  Tokens end_;
};

}  // namespace kvc::conformance
