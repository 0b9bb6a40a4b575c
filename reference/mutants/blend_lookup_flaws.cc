// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of the two blend lookups: what is found, told, and locked.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "engine/blend_index.h"
#include "engine/token_ids.h"
#include "mutants/flaw.h"
#include "mutants/shadow.h"

namespace kvc::mutants {
namespace {

constexpr auto kLookupV1 = RequestType::kCbLookupPreComputed;
constexpr auto kLookupV2 = RequestType::kCbLookupPreComputedV2;
constexpr auto kStorePre = RequestType::kCbStorePreComputed;
constexpr auto kStoreFinal = RequestType::kCbStoreFinal;
constexpr std::initializer_list<RequestType> kBothLookups{kLookupV1, kLookupV2};

using ChangeMatches = std::function<void(CBMatchResults&, const Key& key, const Parts& parts)>;
Changes with_found(ChangeMatches change) {
  return with_calls({kLookupV2}, [change = std::move(change)](Call& call, const Parts& parts) {
    Outcome outcome = call.next();
    auto matches = result_of<CBMatchResults>(outcome);
    const auto key = call.get<Key>(0);
    if (!matches || !key) return outcome;
    change(*matches, *key, parts);
    return answer(*matches);
  });
}

std::vector<std::uint32_t> tokens_of(const Key& key) {
  auto tokens = leading_tokens(key.token_ids, key.token_ids.size());
  return tokens ? *std::move(tokens) : std::vector<std::uint32_t>{};
}

CBMatchResult match_at(std::uint64_t cur_st, std::uint64_t old_st, std::size_t chunk_size,
                       const ChunkHash& hash) {
  return {Int(old_st), Int(old_st + chunk_size), Int(cur_st), Int(cur_st + chunk_size),
          Bytes(hash.begin(), hash.end())};
}

// How 0.4.5 finds chunks: the low bits of a polynomial, and no token is compared.
class FingerprintTable {
 public:
  static constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15U;
  static constexpr std::uint64_t kSlots = std::uint64_t{1} << 20U;

  void add(const Key& key, std::size_t chunk_size) {
    const std::vector<std::uint32_t> tokens = tokens_of(key);
    const std::vector<ChunkHash> chunks = hash_chunks(tokens, chunk_size);
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      std::uint64_t print = 0;
      for (std::size_t k = 0; k < chunk_size; ++k)
        print = print * kBase + tokens[i * chunk_size + k];
      slots_.try_emplace({tenant_of(key), print % kSlots}, Place{chunks[i], i * chunk_size});
    }
  }

  CBMatchResults find(const Key& key, std::size_t chunk_size) const {
    const std::vector<std::uint32_t> tokens = tokens_of(key);
    const Tenant tenant = tenant_of(key);
    std::uint64_t leaving = 1;
    for (std::size_t k = 0; k < chunk_size; ++k) leaving *= kBase;
    CBMatchResults found;
    const std::lock_guard lock(mutex_);
    std::uint64_t print = 0;
    for (std::size_t end = 1, free_from = 0; end <= tokens.size(); ++end) {
      print = print * kBase + tokens[end - 1];
      if (end > chunk_size) print -= leaving * tokens[end - 1 - chunk_size];
      if (end < free_from + chunk_size) continue;
      const auto slot = slots_.find({tenant, print % kSlots});
      if (slot == slots_.end()) continue;
      found.push_back(
          match_at(end - chunk_size, slot->second.old_st, chunk_size, slot->second.hash));
      free_from = end;
    }
    return found;
  }

 private:
  struct Place {
    ChunkHash hash;
    std::uint64_t old_st = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<Tenant, std::uint64_t>, Place> slots_;
};

// What the table finds is answered, be it only where something is right or nothing is.
Changes by_fingerprint(std::function<bool(const CBMatchResult&, const Parts&, const Key&)> also) {
  return {.handlers = [also = std::move(also)](const Parts& parts) {
    const auto table = std::make_shared<FingerprintTable>();
    around(parts.handlers, {kStorePre, kStoreFinal}, [table, parts](Call& call) {
      Outcome outcome = call.next();
      const auto key = call.get<Key>(0);
      if (key && transferred(outcome)) table->add(*key, parts.chunk_size);
      return outcome;
    });
    around(parts.handlers, {kLookupV2}, [table, also, parts](Call& call) {
      Outcome outcome = call.next();
      auto matches = result_of<CBMatchResults>(outcome);
      const auto key = call.get<Key>(0);
      if (!matches || !key) return outcome;
      for (const CBMatchResult& match : table->find(*key, parts.chunk_size)) {
        const bool overlaps =
            std::any_of(matches->begin(), matches->end(), [&](const CBMatchResult& known) {
              return match.cur_st < known.cur_ed && known.cur_st < match.cur_ed;
            });
        if (!overlaps && also(match, parts, *key)) matches->push_back(match);
      }
      std::sort(matches->begin(), matches->end(),
                [](const CBMatchResult& a, const CBMatchResult& b) { return a.cur_st < b.cur_st; });
      return answer(*matches);
    });
  }};
}

std::optional<ObjectKey> object_of(const CBMatchResult& match, const Key& key) {
  ObjectKey object{};
  if (match.hash.size() != object.hash.size()) return std::nullopt;
  std::copy(match.hash.begin(), match.hash.end(), object.hash.begin());
  object.scope =
      key_scope(key.model_name, key.world_size, key.worker_id.value_or(Int(0)), key.cache_salt);
  return object;
}

bool is_stored(const CBMatchResult& match, const Parts& parts, const Key& key) {
  const auto object = object_of(match, key);
  return object && parts.engine.objects().readable(*object);
}

void at_multiples_only(CBMatchResults& matches, const Key&, const Parts& parts) {
  std::erase_if(matches, [&](const CBMatchResult& match) {
    return match.cur_st.bits() % parts.chunk_size != 0;
  });
}

void last_first(CBMatchResults& matches, const Key&, const Parts&) {
  std::reverse(matches.begin(), matches.end());
}

void each_chunk_once(CBMatchResults& matches, const Key&, const Parts&) {
  std::set<Bytes> seen;
  std::erase_if(matches,
                [&](const CBMatchResult& match) { return !seen.insert(match.hash).second; });
}

void from_its_beginning(CBMatchResults& matches, const Key&, const Parts&) {
  for (CBMatchResult& match : matches) {
    match.old_ed = Int(match.old_ed.bits() - match.old_st.bits());
    match.old_st = Int(0);
  }
}

void sixteen_bytes(CBMatchResults& matches, const Key&, const Parts&) {
  for (CBMatchResult& match : matches) match.hash.resize(16);
}

void end_is_last_token(CBMatchResults& matches, const Key&, const Parts&) {
  for (CBMatchResult& match : matches) match.cur_ed = Int(match.cur_ed.bits() - 1);
}

void at_most_64(CBMatchResults& matches, const Key&, const Parts&) {
  if (matches.size() > 64) matches.resize(64);
}

// What CB_STORE_FINAL alone has stored.
Changes final_not_found() {
  return {.handlers = [](const Parts& parts) {
    struct State {
      std::mutex mutex;
      std::set<ChunkHash> pre_computed;
    };
    const auto state = std::make_shared<State>();
    around(parts.handlers, {kStorePre}, [state, parts](Call& call) {
      if (const auto key = call.get<Key>(0)) {
        const std::lock_guard lock(state->mutex);
        for (const ChunkHash& chunk : chunks_of(*key, parts.chunk_size))
          state->pre_computed.insert(chunk);
      }
      return call.next();
    });
    around(parts.handlers, {kLookupV2}, [state](Call& call) {
      Outcome outcome = call.next();
      auto matches = result_of<CBMatchResults>(outcome);
      const auto key = call.get<Key>(0);
      if (!matches || !key) return outcome;
      const std::lock_guard lock(state->mutex);
      std::erase_if(*matches, [&](const CBMatchResult& match) {
        const auto object = object_of(match, *key);
        return !object || !state->pre_computed.contains(object->hash);
      });
      return answer(*matches);
    });
  }};
}

// A lookup that finds the tokens and not the object takes the tokens out, for everybody.
Changes lookups_remove() {
  return {.handlers = [](const Parts& parts) {
    struct State {
      std::mutex mutex;
      std::set<std::vector<std::uint32_t>> removed;
    };
    const auto state = std::make_shared<State>();
    around(parts.handlers, {kLookupV2}, [state, parts](Call& call) {
      Outcome outcome = call.next();
      auto matches = result_of<CBMatchResults>(outcome);
      const auto key = call.get<Key>(0);
      if (!matches || !key) return outcome;
      const std::vector<std::uint32_t> tokens = tokens_of(*key);
      const auto window = [&](std::size_t from) {
        const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(from);
        return std::vector<std::uint32_t>(first,
                                          first + static_cast<std::ptrdiff_t>(parts.chunk_size));
      };
      const std::lock_guard lock(state->mutex);
      if (matches->empty()) {
        for (std::size_t from = 0; from + parts.chunk_size <= tokens.size(); ++from)
          state->removed.insert(window(from));
        return outcome;
      }
      std::erase_if(*matches, [&](const CBMatchResult& match) {
        return state->removed.contains(window(match.cur_st.bits()));
      });
      return answer(*matches);
    });
  }};
}

Changes lock_twice(RequestType type) {
  return with_calls({type}, [](Call& call, const Parts&) {
    call.next();
    return call.next();
  });
}

// The requests of a blend lookup keep what they hold.
Changes end_keeps_blend_locks() {
  return {.handlers = [](const Parts& parts) {
    const auto lookups = keys_of(parts, kBothLookups);
    around(parts.handlers, {RequestType::kEndSession}, [lookups](Call& call) {
      const auto request_id = call.get<std::string>(0);
      if (request_id && !lookups->take_request(*request_id).empty()) return answer_none();
      return call.next();
    });
  }};
}

Changes ranges_in_chunks() {
  return with_calls({kLookupV1}, [](Call& call, const Parts& parts) {
    Outcome outcome = call.next();
    auto ranges = result_of<Ranges>(outcome);
    if (!ranges) return outcome;
    for (Range& range : *ranges)
      range.end =
          Int(range.start.bits() + (range.end.bits() - range.start.bits()) / parts.chunk_size);
    return answer(*ranges);
  });
}

Changes first_paragraph_only() {
  return with_calls({kLookupV1}, [](Call& call, const Parts&) {
    Outcome outcome = call.next();
    auto ranges = result_of<Ranges>(outcome);
    if (!ranges || ranges->size() < 2) return outcome;
    ranges->resize(1);
    return answer(*ranges);
  });
}

Changes patterns_ignored() {
  return {.options = [](EngineOptions& options) { options.paragraphs = {}; }};
}

void cut_to_range(Key& key) {
  std::vector<Int> tokens = key.token_ids.to_vector();
  const auto end = key.end.as_u64();
  if (end && *end < tokens.size()) tokens.resize(*end);
  key.token_ids = IntArray::of(tokens);
}

}  // namespace

void add_blend_lookup_flaws(FlawList& list) {
  list.push_back({"blend-fingerprint-decides",
                  "Answers a match where a fingerprint of 20 bits is that of a stored chunk.",
                  "blend.equal-tokens", [] { return by_fingerprint(is_stored); }});
  list.push_back({"blend-clear-leaves-matches", "Answers matches whose chunks CLEAR has dropped.",
                  "blend.only-stored", [] {
                    return by_fingerprint(
                        [](const CBMatchResult& match, const Parts& parts, const Key& key) {
                          return !is_stored(match, parts, key);
                        });
                  }});
  list.push_back({"blend-multiples-only", "Finds chunks at multiples of the chunk size only.",
                  "blend.every-position", [] { return with_found(at_multiples_only); }});
  list.push_back({"blend-last-first", "Answers matches from right to left.", "blend.order",
                  [] { return with_found(last_first); }});
  list.push_back({"blend-each-chunk-once",
                  "Finds a chunk once in a query, however often it is there.",
                  "blend.every-occurrence", [] { return with_found(each_chunk_once); }});
  list.push_back({"blend-old-place-is-0", "Says of each match that it was stored from token 0 on.",
                  "blend.match-fields", [] { return with_found(from_its_beginning); }});
  list.push_back({"blend-short-hash", "Answers 16 bytes of a chunk's hash.", "blend.match-fields",
                  [] { return with_found(sixteen_bytes); }});
  list.push_back({"blend-end-is-the-last-token", "Answers a match's last token as its cur_ed.",
                  "blend.match-fields", [] { return with_found(end_is_last_token); }});
  list.push_back({"blend-64-matches-at-most", "Answers no more than 64 matches.", "blend.finds-all",
                  [] { return with_found(at_most_64); }});
  list.push_back({"blend-lookup-ends-at-end", "Looks at the tokens before the key's end only.",
                  "blend.lookup-whole", [] { return with_keys({kLookupV2}, cut_to_range); }});
  list.push_back({"blend-salt-ignored", "cache_salt is no part of a blend key.", "blend.apart", [] {
                    return with_keys(kBlendKeyTypes, [](Key& key) { key.cache_salt.clear(); });
                  }});
  list.push_back({"blend-final-not-found", "What CB_STORE_FINAL stores is not found by content.",
                  "blend.store-final", final_not_found});
  list.push_back({"blend-lookups-remove",
                  "A lookup that finds nothing makes its tokens unfindable for everybody.",
                  "blend.lookup-changes-nothing", lookups_remove});
  list.push_back({"blend-lookup-locks-twice", "CB_LOOKUP_PRE_COMPUTED_V2 takes two locks.",
                  "blend.lookup-locks", [] { return lock_twice(kLookupV2); }});
  list.push_back({"blend-v1-locks-twice", "CB_LOOKUP_PRE_COMPUTED takes two locks.",
                  "blend.v1-locks", [] { return lock_twice(kLookupV1); }});
  list.push_back({"blend-end-keeps-locks", "END_SESSION leaves locked what a blend lookup found.",
                  "blend.end-releases", end_keeps_blend_locks});
  list.push_back({"blend-v1-ranges-in-chunks", "The end of a V1 range counts chunks.",
                  "blend.v1-ranges", ranges_in_chunks});
  list.push_back({"blend-v1-first-paragraph", "The V1 lookup answers its first paragraph only.",
                  "blend.v1-paragraphs", first_paragraph_only});
  list.push_back({"blend-v1-patterns-ignored", "The V1 lookup takes the whole query, always.",
                  "blend.v1-paragraphs", patterns_ignored});
  list.push_back(
      {"blend-v1-salt-ignored", "The V1 requests do not look at cache_salt.", "blend.v1-apart", [] {
         return with_keys({kLookupV1, RequestType::kCbRetrievePreComputed, kStorePre},
                          [](Key& key) { key.cache_salt.clear(); });
       }});
}

}  // namespace kvc::mutants
