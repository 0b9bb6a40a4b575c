// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of what a chunk is known by: tokens, model, world, worker, salt.
#include <algorithm>
#include <string>
#include <utility>

#include "mutants/flaw.h"
#include "mutants/shadow.h"

namespace kvc::mutants {
namespace {

Changes with_tokens(std::function<void(std::vector<Int>&, std::size_t chunk_size)> change) {
  return with_keys_and_chunk_size(kPagedKeyTypes,
                                  [change = std::move(change)](Key& key, std::size_t chunk_size) {
                                    std::vector<Int> tokens = key.token_ids.to_vector();
                                    change(tokens, chunk_size);
                                    key.token_ids = IntArray::of(tokens);
                                  });
}

void sort_each_chunk(std::vector<Int>& tokens, std::size_t chunk_size) {
  for (std::size_t first = 0; first + chunk_size <= tokens.size(); first += chunk_size) {
    const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(chunk_size));
  }
}

void low_32_bits(std::vector<Int>& tokens, std::size_t) {
  for (Int& token : tokens) token = Int(static_cast<std::uint32_t>(token.bits()));
}

void below_2_31(std::vector<Int>& tokens, std::size_t) {
  for (Int& token : tokens)
    if (token.as_u32()) token = Int(static_cast<std::uint32_t>(token.bits()) & 0x7fffffffU);
}

void last_token_equal(std::vector<Int>& tokens, std::size_t chunk_size) {
  for (std::size_t last = chunk_size; last <= tokens.size(); last += chunk_size)
    tokens[last - 1] = Int(7);
}

// All chunks but the last are known by their place only.
void prefix_ignored(std::vector<Int>& tokens, std::size_t chunk_size) {
  const std::size_t num_chunks = tokens.size() / chunk_size;
  if (num_chunks < 2) return;
  for (std::size_t i = 0; i < (num_chunks - 1) * chunk_size; ++i)
    if (tokens[i].as_u32()) tokens[i] = Int(static_cast<std::uint32_t>(i));
}

Changes model_ignored() {
  Changes changes = with_keys(kPagedKeyTypes, [](Key& key) { key.model_name = "any"; });
  changes.handlers = [next = changes.handlers](const Parts& parts) {
    next(parts);
    around(parts.handlers, {RequestType::kRegisterKvCache}, [](Call& call) {
      call.change<std::string>(2, [](std::string& name) { name = "any"; });
      return call.next();
    });
  };
  return changes;
}

}  // namespace

void add_key_flaws(FlawList& list) {
  list.push_back({"salt-ignored", "cache_salt is no part of the key.", "key.salt", [] {
                    return with_keys(kPagedKeyTypes, [](Key& key) { key.cache_salt.clear(); });
                  }});
  list.push_back({"salt-cut-at-64", "Only the first 64 bytes of cache_salt are part of the key.",
                  "key.salt", [] {
                    return with_keys(kPagedKeyTypes, [](Key& key) {
                      key.cache_salt.resize(std::min<std::size_t>(key.cache_salt.size(), 64));
                    });
                  }});
  list.push_back({"retrieve-ignores-salt", "RETRIEVE does not look at cache_salt.", "key.salt", [] {
                    return with_keys({RequestType::kRetrieve},
                                     [](Key& key) { key.cache_salt.clear(); });
                  }});
  list.push_back(
      {"free-ignores-salt", "FREE_LOOKUP_LOCKS does not look at cache_salt.", "key.salt", [] {
         return with_keys({RequestType::kFreeLookupLocks},
                          [](Key& key) { key.cache_salt.clear(); });
       }});
  list.push_back(
      {"model-ignored", "model_name is no part of the key.", "key.model", model_ignored});
  list.push_back(
      {"worker-ignored", "All workers of a world share their objects.", "key.worker", [] {
         return with_keys({RequestType::kStore, RequestType::kRetrieve}, [](Key& key) {
           if (key.worker_id) key.worker_id = Int(0);
         });
       }});
  list.push_back(
      {"request-id-in-key", "What a request stored only that request finds.", "key.request-id", [] {
         return with_keys(kPagedKeyTypes, [](Key& key) {
           key.cache_salt = key.request_id.substr(0, 100);
           std::erase_if(key.cache_salt,
                         [](char c) { return c == '@' || c == '/' || c == '\\' || c == '\0'; });
         });
       }});
  list.push_back({"tokens-without-order", "A chunk is known by its tokens in any order.",
                  "chunk.hash-chain", [] { return with_tokens(sort_each_chunk); }});
  list.push_back({"last-token-ignored", "The last token of a chunk is no part of its name.",
                  "chunk.hash-chain", [] { return with_tokens(last_token_equal); }});
  list.push_back({"prefix-ignored", "The last chunk of a key is known by its own tokens only.",
                  "chunk.hash-chain", [] { return with_tokens(prefix_ignored); }});
  list.push_back({"tokens-wrap", "Takes a token modulo 2^32.", "chunk.tokens-u32",
                  [] { return with_tokens(low_32_bits); }});
  list.push_back({"tokens-of-31-bits", "Takes a token modulo 2^31.", "chunk.tokens-u32",
                  [] { return with_tokens(below_2_31); }});
}

}  // namespace kvc::mutants
