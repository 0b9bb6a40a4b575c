// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend, paragraphs: what CB_LOOKUP_PRE_COMPUTED takes for one, between the server's patterns of
// token ids, and without patterns. What was expected was asked of lmcache 0.4.2's matcher.
#include "conformance/cases/blend_paragraphs.h"

#include <algorithm>

#include "conformance/cases/blend_cases.h"
#include "conformance/harness/run_context.h"
#include "kvc/protocol/assert.h"

namespace kvc::conformance {

Paragraphs::Paragraphs(Case& test, BlendPlayer& player)
    : player_(player),
      start_(test.context().settings().blend_start),
      end_(test.context().settings().blend_end) {}

Tokens Paragraphs::document(std::size_t num_chunks, std::size_t num_more) {
  const std::size_t length = num_chunks * player_.chunk_size() + num_more;
  KVC_ASSERT(length > start_.size() + end_.size());
  const Tokens fresh = player_.document(num_chunks + 1);
  const std::size_t inner = length - start_.size() - end_.size();
  return player_.query(
      {start_, Tokens(fresh.begin(), fresh.begin() + static_cast<std::ptrdiff_t>(inner)), end_});
}

Paragraphs::Query Paragraphs::around(const Tokens& document, std::size_t before) {
  if (start_.empty()) return {document, 0};
  return {player_.query({before, document, std::size_t{7}}), before};
}

std::vector<Span> Paragraphs::of(const Tokens& query) const {
  if (start_.empty()) return {{0, query.size()}};
  const auto find = [&](const Tokens& pattern, std::size_t from) {
    const auto at = std::search(query.begin() + static_cast<std::ptrdiff_t>(from), query.end(),
                                pattern.begin(), pattern.end());
    return static_cast<std::size_t>(at - query.begin());
  };
  std::vector<Span> out;
  for (std::size_t at = 0;;) {
    const std::size_t start = find(start_, at);
    if (start == query.size()) return out;
    const std::size_t end = find(end_, start + start_.size());
    if (end == query.size()) return out;
    at = end + end_.size();
    out.push_back({start, at});
  }
}

namespace {

const std::vector<Capability> kPatternNeeds = {Capability::kBlendPatterns, Capability::kDevice};
const std::vector<Capability> kWholeNeeds = {Capability::kBlendWhole, Capability::kDevice};

constexpr BlendGeneration kV1 = BlendGeneration::kV1;

Range range(std::size_t start, std::size_t end) { return {Int(start), Int(end)}; }

struct Scene {
  explicit Scene(Case& test)
      : player(registered_blend_player(test, 8, kV1)),
        paragraphs(test, player),
        chunk(player.chunk_size()) {}

  // Tokens that are no pattern's, and stand for a text.
  Tokens text(std::size_t num_tokens) {
    const Tokens tokens = player.document(num_tokens / chunk + 1);
    return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(num_tokens)};
  }
  Tokens stored(const std::vector<Piece>& pieces) {
    Tokens document = player.query(pieces);
    player.store_ok(player.key(document));
    return document;
  }
  // Start and end pattern, and how many tokens a text must have for a paragraph of so many chunks.
  const Tokens& start() const { return paragraphs.start(); }
  const Tokens& end() const { return paragraphs.end(); }
  std::size_t inner(std::size_t num_chunks) const {
    return num_chunks * chunk - start().size() - end().size();
  }

  BlendPlayer player;
  Paragraphs paragraphs;
  std::size_t chunk;
};

void from_pattern_to_pattern(Case& test) {
  Scene scene(test);
  const Tokens document = scene.stored({scene.start(), scene.text(scene.inner(2)), scene.end()});
  for (const std::size_t before : {std::size_t{0}, std::size_t{1}, scene.chunk + 3}) {
    const Tokens query = scene.player.query({before, document, std::size_t{4}});
    scene.player.expect_ranges(scene.player.key(query), {range(before, before + 2 * scene.chunk)},
                               "of a paragraph behind " + std::to_string(before) +
                                   " tokens, from its start pattern to past its end pattern");
  }
  scene.player.expect_ranges(scene.player.key(document), {range(0, 2 * scene.chunk)},
                             "of a query that is one paragraph");
}

// The paragraph that ends with the nearest end is stored, and the longer one too.
void nearest_end(Case& test) {
  Scene scene(test);
  const Tokens near = scene.stored({scene.start(), scene.text(scene.inner(2)), scene.end()});
  const Tokens far =
      scene.stored({near, scene.text(2 * scene.chunk - scene.end().size()), scene.end()});
  scene.player.expect_ranges(scene.player.key(far), {range(0, 2 * scene.chunk)},
                             "of a start pattern and two end patterns");
}

// A start pattern within a paragraph begins no other.
void first_start(Case& test) {
  Scene scene(test);
  // Where an end pattern is part of a start pattern, the second start is an end.
  if (std::search(scene.start().begin(), scene.start().end(), scene.end().begin(),
                  scene.end().end()) != scene.start().end())
    return;
  const Tokens inner = scene.stored({scene.start(), scene.text(scene.inner(1)), scene.end()});
  const Tokens outer =
      scene.stored({scene.start(), scene.text(scene.chunk - scene.start().size()), inner});
  scene.player.expect_ranges(scene.player.key(scene.player.query({std::size_t{2}, outer})),
                             {range(2, 2 + 2 * scene.chunk)},
                             "of two start patterns and one end pattern");
}

void without_end(Case& test) {
  Scene scene(test);
  const Tokens document = scene.stored({scene.start(), scene.text(scene.inner(2)), scene.end()});
  const Tokens cut(document.begin(), document.end() - 1);
  scene.player.expect_ranges(scene.player.key(cut), {},
                             "of a paragraph whose end pattern lacks its last token");
  const Tokens query = scene.player.query({document, std::size_t{3}, cut, std::size_t{9}});
  scene.player.expect_ranges(scene.player.key(query), {range(0, 2 * scene.chunk)},
                             "of a paragraph, and a start pattern without an end behind it");
}

void without_start(Case& test) {
  Scene scene(test);
  const Tokens document = scene.stored({scene.start(), scene.text(scene.inner(2)), scene.end()});
  const Tokens bare = scene.stored({scene.text(2 * scene.chunk)});
  scene.player.expect_ranges(scene.player.key(bare), {},
                             "of stored tokens that are in no paragraph");
  const Tokens cut(document.begin() + 1, document.end());
  scene.player.expect_ranges(scene.player.key(cut), {},
                             "of a paragraph whose start pattern lacks its first token");
  scene.player.expect_ranges(
      scene.player.key(scene.player.query({scene.end(), std::size_t{3}, document})),
      {range(scene.end().size() + 3, scene.end().size() + 3 + 2 * scene.chunk)},
      "of an end pattern, and a paragraph behind it");
}

void several_in_a_row(Case& test) {
  Scene scene(test);
  const Tokens first = scene.stored({scene.start(), scene.text(scene.inner(1)), scene.end()});
  const Tokens second = scene.stored({scene.start(), scene.text(scene.inner(2)), scene.end()});
  const Tokens unknown =
      scene.player.query({scene.start(), scene.text(scene.inner(1)), scene.end()});
  const std::size_t chunk = scene.chunk;
  const Tokens query =
      scene.player.query({second, first, std::size_t{5}, unknown, first, std::size_t{1}, second});
  scene.player.expect_ranges(
      scene.player.key(query),
      {range(0, 2 * chunk), range(2 * chunk, 3 * chunk), range(4 * chunk + 5, 5 * chunk + 5),
       range(5 * chunk + 6, 7 * chunk + 6)},
      "of five paragraphs of which the third was never stored");
}

// Paragraphs of less than a chunk have no chunk to be found.
void short_ones(Case& test) {
  Scene scene(test);
  const Tokens document = scene.stored({scene.start(), scene.text(scene.inner(1)), scene.end()});
  const Tokens query = scene.player.query(
      {scene.start(), scene.end(), scene.start(), std::size_t{2}, scene.end(), document});
  const std::size_t before = 2 * (scene.start().size() + scene.end().size()) + 2;
  scene.player.expect_ranges(scene.player.key(query), {range(before, before + scene.chunk)},
                             "of an empty paragraph, a short one, and one that was stored");
}

// Random rows of patterns, texts and other tokens against the slow, obvious answer.
void rows_of_patterns(Case& test) {
  Scene scene(test);
  std::vector<Tokens> documents;
  for (const std::size_t num_chunks : {1U, 1U, 2U})
    documents.push_back(
        scene.stored({scene.start(), scene.text(scene.inner(num_chunks)), scene.end()}));
  for (int round = 0; round < 20; ++round) {
    std::vector<Piece> pieces;
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t choice = test.random()();
      switch (choice % 6) {
        case 0:
          pieces.push_back(scene.start());
          break;
        case 1:
          pieces.push_back(scene.end());
          break;
        case 2:
          pieces.emplace_back(static_cast<std::size_t>(choice / 6 % (scene.chunk + 3)));
          break;
        default:
          pieces.push_back(documents[choice / 6 % documents.size()]);
      }
    }
    const Tokens query = scene.player.query(pieces);
    Ranges expected;
    for (const Span& span : scene.paragraphs.of(query)) {
      // Chunks found from its beginning: a document's, as far as the paragraph has them.
      std::size_t best = 0;
      for (const Tokens& document : documents) {
        std::size_t found = 0;
        while ((found + 1) * scene.chunk <= std::min(document.size(), span.end - span.start) &&
               std::equal(document.begin(),
                          document.begin() + static_cast<std::ptrdiff_t>((found + 1) * scene.chunk),
                          query.begin() + static_cast<std::ptrdiff_t>(span.start)))
          ++found;
        best = std::max(best, found);
      }
      if (best > 0) expected.push_back(range(span.start, span.start + best * scene.chunk));
    }
    scene.player.expect_ranges(scene.player.key(query), expected,
                               "of round " + std::to_string(round) + " of random rows (seed " +
                                   std::to_string(test.context().settings().seed) + ")");
  }
}

void whole_query(Case& test) {
  Scene scene(test);
  const Tokens document = scene.stored({scene.text(2 * scene.chunk)});
  scene.player.expect_ranges(scene.player.key(scene.player.query({document, std::size_t{9}})),
                             {range(0, 2 * scene.chunk)}, "of a query that begins with a document");
  scene.player.expect_ranges(scene.player.key(scene.player.query({std::size_t{9}, document})), {},
                             "of a query that begins otherwise");
}

}  // namespace

void add_blend_paragraph_cases(CaseList& cases) {
  const auto add = [&](const char* id, const char* claim, std::function<void(Case&)> body) {
    cases.add({id, {"blend.v1-paragraphs"}, claim, kPatternNeeds, std::move(body)});
  };
  add("BlendV1.ParagraphsRunFromPatternToPattern",
      "A paragraph is from the first token of a start pattern to past the last of an end pattern.",
      from_pattern_to_pattern);
  add("BlendV1.NearestEndWins", "Of two end patterns behind a start the nearer one ends it.",
      nearest_end);
  add("BlendV1.FirstStartWins", "Of two start patterns before an end the first one begins it.",
      first_start);
  add("BlendV1.NoParagraphWithoutEnd", "A start pattern without an end pattern begins nothing.",
      without_end);
  add("BlendV1.NoParagraphWithoutStart", "What no start pattern precedes is in no paragraph.",
      without_start);
  add("BlendV1.SeveralParagraphs", "Each paragraph is looked up from its own beginning.",
      several_in_a_row);
  add("BlendV1.ShortParagraphsHaveNoRange",
      "Empty and short paragraphs are not answered, and hide no other.", short_ones);
  add("BlendV1.RandomRowsOfPatterns",
      "In random rows of patterns and texts the server finds what a slow search finds.",
      rows_of_patterns);
  cases.add({"BlendV1.WholeQueryWithoutPatterns",
             {"blend.v1-whole-query"},
             "Without patterns the whole query is one paragraph.",
             kWholeNeeds,
             whole_query});
}

}  // namespace kvc::conformance
