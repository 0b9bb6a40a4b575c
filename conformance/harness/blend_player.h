// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// BlendPlayer: plays a blend engine: owns one buffer [2, layers, tokens, hidden] on the device,
// registers it, fills it with a pattern that tells every element apart, stores chunks from it,
// looks them up at any position of a query, retrieves them into it, and compares every byte. One
// instance of a server's `instance_id`, one client.
//
// Owns its buffer and its client; unregisters when it goes. Whatever is not as it should be is a
// Finding. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "conformance/harness/case.h"
#include "conformance/harness/engine_player.h"
#include "conformance/harness/fresh_values.h"

namespace kvc::conformance {

// Sizes in elements.
struct BlendShape {
  std::size_t num_tokens = 0;
  std::string dtype = "bfloat16";
  std::size_t num_layers = 2;
  std::size_t hidden_size = 8;
};

// Which pair of lookup and retrieve the played engine uses.
enum class BlendGeneration { kV1, kV2 };

// A query is made of these, one behind the other: given tokens, or so many that mean nothing.
using Piece = std::variant<Tokens, std::size_t>;

// Where a match is due: in the query, and in the sequence that was stored.
struct MatchPlace {
  std::size_t cur_st = 0;
  std::size_t old_st = 0;
};

class BlendPlayer {
 public:
  // Allocates the buffer and fills it with zeros. Does not register.
  BlendPlayer(Case& test, const BlendShape& shape, std::string model_name, Int world_size = 1,
              BlendGeneration generation = BlendGeneration::kV2);
  ~BlendPlayer();
  BlendPlayer(BlendPlayer&&) noexcept;

  Int instance_id() const;  // unique in the run
  void set_instance_id(Int instance_id);
  const std::string& model_name() const;
  const BlendShape& shape() const;
  Client& client();
  KVCache kv_cache() const;

  void register_buffer();  // Finding unless answered
  Sent send_register(const KVCache& kv_cache);
  void unregister_buffer();

  // --- Tokens and keys ------------------------------------------------------------------------
  std::size_t chunk_size() const;
  // Tokens that no other call gives.
  Tokens document(std::size_t num_chunks);
  // A query of these pieces; a number is filled with that many random tokens.
  Tokens query(const std::vector<Piece>& pieces);
  // Chunks [first, last) of a document.
  Tokens part(const Tokens& document, std::size_t first, std::size_t last) const;
  // A key of this engine: worker 0, tokens as given, [start, end) all full chunks.
  Key key(const Tokens& tokens, const std::string& request_id = "",
          const std::string& cache_salt = "") const;

  // --- Memory ---------------------------------------------------------------------------------
  void fill(std::uint64_t seed);  // all of it, with the pattern of `seed`
  void stamp(std::uint8_t byte);  // all of it, with one byte
  Bytes content(std::size_t at, std::size_t num_tokens) const;  // [2, layers, num_tokens, hidden]
  Bytes chunk_at(std::size_t at) const;                         // content(at, chunk_size())
  Bytes image() const;                                          // every byte of the buffer
  // `image`, with `content` from token `at` on.
  Bytes with(Bytes image, std::size_t at, const Bytes& content) const;
  void expect_image(const Bytes& expected, const std::string& what) const;
  std::size_t token_bytes() const;  // of a token in one layer, keys or values

  // --- Requests -------------------------------------------------------------------------------
  // Transfers with an event that is complete, and the returned event waited for (wait_done).
  TransferResult store(const Key& key, Int offset = 0,
                       RequestType type = RequestType::kCbStorePreComputed);
  void store_ok(const Key& key, Int offset = 0, const std::string& what = "CB_STORE_PRE_COMPUTED",
                RequestType type = RequestType::kCbStorePreComputed);
  TransferResult retrieve(const Key& key, const CBMatchResults& matches, Int offset = 0);
  void retrieve_ok(const Key& key, const CBMatchResults& matches, Int offset = 0,
                   const std::string& what = "CB_RETRIEVE_PRE_COMPUTED_V2");
  TransferResult retrieve(const Key& key, const Ranges& ranges, Int offset = 0);
  void retrieve_ok(const Key& key, const Ranges& ranges, Int offset = 0,
                   const std::string& what = "CB_RETRIEVE_PRE_COMPUTED");

  // Lookups for all workers.
  CBMatchResults lookup(const Key& key);
  Ranges lookup_ranges(const Key& key);
  // Exactly these matches are due, with chunk hashes of 32 bytes. Answers them.
  CBMatchResults expect_matches(const Key& key, const std::vector<MatchPlace>& places,
                                const std::string& what);
  void expect_ranges(const Key& key, const Ranges& expected, const std::string& what);

  // Only sent, with any event and any instance.
  Sent send_store(const Key& key, Int offset, Int instance_id, const Bytes& event,
                  RequestType type = RequestType::kCbStorePreComputed);
  Sent send_retrieve(const Key& key, const CBMatchResults& matches, Int offset, Int instance_id,
                     const Bytes& event);
  Sent send_retrieve(const Key& key, const Ranges& ranges, Int offset, Int instance_id,
                     const Bytes& event);
  TransferResult reply_to(const Sent& sent);
  // The reply, when there is one: a miss of this instance, which runs behind it, is all that is
  // waited for. REQUIRES: this engine is registered.
  std::optional<TransferResult> outcome(const Sent& sent);
  // MUST of a refusal: no reply, or False.
  void expect_never_true(const Sent& sent, const std::string& what);
  // SHOULD of a refusal: False is said, the handle whatever it is.
  void expect_says_false(const Sent& sent, const std::string& what);

  void free_locks(const Key& key);
  void end_session(const std::string& request_id);
  void clear();

  Bytes ready_event();  // the handle of an event that is complete
  // The returned event is complete, and what the server does right behind it is done, as in
  // EnginePlayer::wait_done.
  void wait_done(const Bytes& handle);

 private:
  TransferResult miss();

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A player of a model of its own, registered, with room for `num_chunks` chunks and some tokens.
BlendPlayer registered_blend_player(Case& test, std::size_t num_chunks,
                                    BlendGeneration generation = BlendGeneration::kV2);
BlendShape blend_shape(Case& test, std::size_t num_chunks);

// A paged engine of the same model whose chunks are the same bytes, registered.
EnginePlayer paged_twin(Case& test, const BlendPlayer& blend, std::size_t num_chunks);
// A chunk's bytes [2, layers, chunk, hidden] as the blocks of such an engine.
Contents as_blocks(const BlendPlayer& blend, const EnginePlayer& paged, const Bytes& chunk);

}  // namespace kvc::conformance
