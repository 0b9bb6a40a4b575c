// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend, property: random documents, some of which hold parts of others, and random queries spliced
// from them; a slow and obvious search, window by window from the left, and the server agree.
#include <algorithm>
#include <map>
#include <numeric>

#include "conformance/cases/blend_cases.h"
#include "conformance/harness/blend_player.h"
#include "conformance/harness/run_context.h"

namespace kvc::conformance {
namespace {

struct Document {
  Tokens tokens;
  Bytes contents;  // of its full chunks
};

std::size_t up_to(Case& test, std::size_t most) {
  return std::uniform_int_distribution<std::size_t>(0, most)(test.random());
}

Tokens slice(const Tokens& tokens, std::size_t from, std::size_t to) {
  return {tokens.begin() + static_cast<std::ptrdiff_t>(from),
          tokens.begin() + static_cast<std::ptrdiff_t>(to)};
}

class Model {
 public:
  Model(std::size_t chunk_size, std::size_t row_bytes, std::size_t num_rows)
      : chunk_size_(chunk_size), chunk_bytes_(chunk_size * row_bytes), num_rows_(num_rows) {}

  void store(const Document& document) {
    const std::size_t num_chunks = document.tokens.size() / chunk_size_;
    for (std::size_t i = 0; i < num_chunks; ++i) {
      Bytes bytes;
      for (std::size_t row = 0; row < num_rows_; ++row) {
        const auto from = document.contents.begin() +
                          static_cast<std::ptrdiff_t>((row * num_chunks + i) * chunk_bytes_);
        bytes.insert(bytes.end(), from, from + static_cast<std::ptrdiff_t>(chunk_bytes_));
      }
      // No two documents of this case have the same chunk.
      chunks_[slice(document.tokens, i * chunk_size_, (i + 1) * chunk_size_)] = {i * chunk_size_,
                                                                                 std::move(bytes)};
    }
  }

  // Whether a chunk of these tokens is stored: which of two equal ones is due is another question.
  bool knows_any(const Tokens& tokens) const {
    for (std::size_t at = 0; at + chunk_size_ <= tokens.size(); at += chunk_size_)
      if (chunks_.contains(slice(tokens, at, at + chunk_size_))) return true;
    return false;
  }

  struct Found {
    MatchPlace place;
    const Bytes* bytes;
  };
  std::vector<Found> find(const Tokens& query) const {
    std::vector<Found> out;
    std::size_t at = 0;
    while (at + chunk_size_ <= query.size()) {
      const auto found = chunks_.find(slice(query, at, at + chunk_size_));
      if (found == chunks_.end()) {
        ++at;
        continue;
      }
      out.push_back({{at, found->second.old_st}, &found->second.bytes});
      at += chunk_size_;
    }
    return out;
  }

 private:
  struct Chunk {
    std::size_t old_st = 0;
    Bytes bytes;
  };
  std::size_t chunk_size_, chunk_bytes_, num_rows_;
  std::map<Tokens, Chunk> chunks_;
};

// Some documents are new, some begin in the middle of an older one, so that their chunks overlap.
Tokens random_document(Case& test, BlendPlayer& player, const std::vector<Document>& documents) {
  const std::size_t chunk = player.chunk_size();
  Tokens fresh = player.document(1 + up_to(test, 2));
  if (documents.empty() || up_to(test, 2) > 0) return fresh;
  const Tokens& old = documents[up_to(test, documents.size() - 1)].tokens;
  const std::size_t from = 1 + up_to(test, chunk - 2);
  return player.query({slice(old, from, old.size()), fresh});
}

// Each document at most once, whole or a part of it, other tokens in between.
Tokens random_query(Case& test, BlendPlayer& player, const std::vector<Document>& documents) {
  std::vector<std::size_t> order(documents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), test.random());
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < 3; ++i) {
    pieces.emplace_back(up_to(test, player.chunk_size()));
    const Tokens& tokens = documents[order[i]].tokens;
    const std::size_t from = up_to(test, 1) == 0 ? 0 : up_to(test, tokens.size() / 2);
    const std::size_t to =
        up_to(test, 1) == 0 ? tokens.size() : from + up_to(test, tokens.size() - from);
    pieces.emplace_back(slice(tokens, from, to));
  }
  pieces.emplace_back(up_to(test, player.chunk_size()));
  return player.query(pieces);
}

// Whether some stored chunk is in the query more than once: which of them are due then is another
// rule (blend.every-occurrence).
bool repeats(const Tokens& query, const std::vector<Document>& documents, std::size_t chunk) {
  for (const Document& document : documents)
    for (std::size_t at = 0; at + chunk <= document.tokens.size(); at += chunk) {
      const Tokens window = slice(document.tokens, at, at + chunk);
      const auto first = std::search(query.begin(), query.end(), window.begin(), window.end());
      if (first != query.end() &&
          std::search(first + 1, query.end(), window.begin(), window.end()) != query.end())
        return true;
    }
  return false;
}

void agrees_with_the_model(Case& test) {
  BlendPlayer player = registered_blend_player(test, 16);
  const std::size_t chunk = player.chunk_size();
  const std::string seed = " (seed " + std::to_string(test.context().settings().seed) + ")";
  Model model(chunk, player.token_bytes(), 2 * player.shape().num_layers);
  std::vector<Document> documents;
  for (int i = 0; i < 10; ++i) {
    Document document;
    do document.tokens = random_document(test, player, documents);
    while (model.knows_any(document.tokens));
    const std::size_t num_chunks = document.tokens.size() / chunk;
    const std::size_t offset = up_to(test, player.shape().num_tokens - num_chunks * chunk);
    player.fill(test.random()());
    document.contents = player.content(offset, num_chunks * chunk);
    player.store_ok(player.key(document.tokens), Int(offset));
    model.store(document);
    documents.push_back(std::move(document));
  }
  for (int round = 0; round < 20; ++round) {
    test.step("round " + std::to_string(round) + seed);
    const Tokens query = random_query(test, player, documents);
    if (repeats(query, documents, chunk)) continue;
    const std::vector<Model::Found> due = model.find(query);
    std::vector<MatchPlace> places;
    for (const Model::Found& found : due) places.push_back(found.place);
    const Key key = player.key(query);
    const CBMatchResults matches =
        player.expect_matches(key, places, "of round " + std::to_string(round) + seed);
    if (round % 5 != 0 || query.size() > player.shape().num_tokens) {
      player.end_session(key.request_id);
      continue;
    }
    player.fill(test.random()());
    Bytes expected = player.image();
    const std::size_t offset = up_to(test, player.shape().num_tokens - query.size());
    for (const Model::Found& found : due)
      expected = player.with(expected, offset + found.place.cur_st, *found.bytes);
    player.retrieve_ok(key, matches, Int(offset));
    player.expect_image(expected, "the matches of round " + std::to_string(round) + seed);
  }
}

}  // namespace

void add_blend_property_cases(CaseList& cases) {
  cases.add({"Blend.AgreesWithASlowSearch",
             {"blend.every-position", "blend.order", "blend.retrieve-exact"},
             "For random documents and queries spliced from them, the matches are those of a slow "
             "search from the left, and retrieve exactly.",
             kBlendV2Needs,
             agrees_with_the_model});
}

}  // namespace kvc::conformance
