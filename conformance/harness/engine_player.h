// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// EnginePlayer: plays an inference engine: owns paged KV buffers on the device, registers them,
// fills blocks with a pattern that tells every element apart, stores, looks up, retrieves, and
// compares every byte. One instance of a server's `instance_id`, one client.
//
// Owns its buffers and its client; unregisters when it goes. Whatever is not as it should be is a
// Finding. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/harness/case.h"
#include "conformance/harness/fresh_values.h"
#include "conformance/harness/kv_geometry.h"

namespace kvc::conformance {

using BlockIds = std::vector<std::int64_t>;
using Contents = std::vector<Bytes>;  // one a block

class EnginePlayer {
 public:
  // Allocates the buffers, which are all zero. Does not register.
  EnginePlayer(Case& test, const EngineShape& shape, std::string model_name, Int world_size = 1);
  ~EnginePlayer();
  EnginePlayer(EnginePlayer&&) noexcept;

  Int instance_id() const;  // unique in the run
  const std::string& model_name() const;
  const Geometry& geometry() const;
  Client& client();  // the engine's own client
  KVCache kv_cache() const;
  LayoutHints hints() const;
  // The same memory, for work on a stream of the engine's own process.
  std::shared_ptr<const BlockSpace> block_space() const;
  EngineType engine_type() const;

  void register_kv_cache();  // Finding unless answered
  // The same with other values on the wire: what a case wants to be refused, say.
  Sent send_register(const KVCache& kv_cache, EngineType engine, const LayoutHints& hints);
  void unregister_kv_cache();

  // --- Keys, tokens, blocks -----------------------------------------------------------------
  std::size_t chunk_size() const;
  std::size_t blocks_per_chunk() const;

  // `count` tokens that no other call gives.
  Tokens fresh_tokens(std::size_t count);
  Tokens fresh_chunks(std::size_t num_chunks);

  // A key of this engine: worker 0, tokens as given, [start, end) all full chunks by default.
  Key key(const Tokens& tokens, const std::string& request_id = "",
          const std::string& cache_salt = "") const;
  // The same for chunks [first, last).
  Key key_of(const Tokens& tokens, std::size_t first_chunk, std::size_t last_chunk,
             const std::string& request_id = "") const;

  // The blocks of `num_chunks` chunks, counted up from the first block of chunk place `place`.
  BlockIds blocks(std::size_t place, std::size_t num_chunks = 1) const;

  // --- Memory ---------------------------------------------------------------------------------
  // Fills a block with a pattern made of (seed, layer, kv, slot, head, element).
  void fill_block(std::int64_t block_id, std::uint64_t seed);
  // Fills block ids[i] with the pattern of seed + i; answers what they hold now.
  Contents fill(const BlockIds& block_ids, std::uint64_t seed);
  void fill_all(std::uint8_t byte);
  // Fills a block with one byte: for cases that move very much.
  void stamp(std::int64_t block_id, std::uint8_t byte);
  // Writes blocks: the other way round than contents().
  void put(const BlockIds& block_ids, const Contents& contents);
  Contents contents(const BlockIds& block_ids) const;
  MemoryImage image() const;  // every byte of every tensor

  void expect_contents(const BlockIds& block_ids, const Contents& expected,
                       const std::string& what) const;
  // Every byte of every tensor is as in `expected`.
  void expect_image(const MemoryImage& expected, const std::string& what) const;
  // `before`, with `contents` in blocks `block_ids`, from the `skipped`-th on.
  MemoryImage with(MemoryImage before, const BlockIds& block_ids, const Contents& contents,
                   std::size_t num_skipped = 0) const;

  // --- Requests -------------------------------------------------------------------------------
  // STORE and RETRIEVE with an event that is complete, and the returned event waited for
  // (wait_done).
  TransferResult store(const Key& key, const BlockIds& block_ids);
  TransferResult retrieve(const Key& key, const BlockIds& block_ids, Int skip = 0);
  // The same, and True is due.
  void store_ok(const Key& key, const BlockIds& block_ids, const std::string& what = "STORE");
  void retrieve_ok(const Key& key, const BlockIds& block_ids, Int skip = 0,
                   const std::string& what = "RETRIEVE");

  // Only sent, with any event and any instance.
  Sent send_store(const Key& key, const BlockIds& block_ids, const Bytes& event);
  Sent send_store(const Key& key, Int instance_id, const BlockIds& block_ids, const Bytes& event);
  Sent send_retrieve(const Key& key, const BlockIds& block_ids, const Bytes& event, Int skip = 0);
  Sent send_retrieve(const Key& key, Int instance_id, const BlockIds& block_ids, const Bytes& event,
                     Int skip = 0);
  // The reply, when there is one: nothing is waited for but the requests sent before, which this
  // proves with a miss (one client's transfers run in order).
  // REQUIRES: this engine is registered.
  std::optional<TransferResult> outcome(const Sent& sent);
  // MUST of a refusal: no reply, or False. The returned event, if any, is not waited for.
  void expect_never_true(const Sent& sent, const std::string& what);
  // SHOULD of a refusal: (b"", False) is said; with `handle_is_fine` the event may be there.
  void expect_says_false(const Sent& sent, bool handle_is_fine, const std::string& what);

  // LOOKUP for all workers, then QUERY_PREFETCH_STATUS until it is not None: the number of chunks
  // found and locked.
  Int lookup(const Key& key, Int tp_size = 1);
  Int lookup(const Tokens& tokens, const std::string& cache_salt = "");
  void expect_lookup(const Tokens& tokens, Int expected, const std::string& what);
  Int query(const std::string& request_id);
  void free_locks(const Key& key, Int tp_size = 1);
  void end_session(const std::string& request_id);
  void clear();

  Bytes ready_event();                   // the handle of an event that is complete
  void wait_event(const Bytes& handle);  // Finding when it does not open or complete in time
  // wait_event, and until the server has done what it does right behind it: 0.4.5 publishes what
  // was stored, and releases the locks of what was retrieved, just after the returned event.
  // Whether it is to be done before is a rule of its own (events.visible-at-once), and a race that
  // must not decide about the others.
  void wait_done(const Bytes& handle);
  bool event_complete(const Bytes& handle);
  // Until the event is complete or the grace has passed; answers whether it is complete.
  bool event_completes_within_grace(const Bytes& handle);

 private:
  // RETRIEVE of something that is not there: False, behind all that was sent before.
  TransferResult miss();

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A player of a model of its own, registered.
EnginePlayer registered_player(Case& test, const EngineShape& shape);

// A shape with four blocks a chunk where the chunk size allows, and room for `num_chunks` chunks.
EngineShape small_shape(Case& test, std::size_t num_chunks);
// One byte a token and layer, one block a chunk: for cases with very many chunks.
EngineShape tiny_shape(Case& test, std::size_t num_chunks);

}  // namespace kvc::conformance
