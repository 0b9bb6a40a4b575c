// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Engine: what each request does, of all groups. One function a request type, with the payloads and
// the result of the protocol; which thread runs it is the server's business, any may.
//
// An error is a request that cannot be served: it has had no effect. Where the result is a
// TransferResult the server tells the client (b"", False), else nothing. Functions throw
// DeviceError and what the standard library throws; then, too, no lock and no half-made object is
// left.
//
// Copies run on the device's streams after a function has returned. The Engine must outlive no
// work: its destructor gives up what streams wait for, and waits for the rest.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/blend_holds.h"
#include "engine/blend_index.h"
#include "engine/clock.h"
#include "engine/event_log.h"
#include "engine/lookup_jobs.h"
#include "engine/object_store.h"
#include "engine/paragraphs.h"
#include "engine/registration.h"
#include "engine/session_table.h"
#include "kvc/device/device.h"
#include "kvc/protocol/result.h"
#include "kvc/protocol/values.h"

namespace kvc {

struct EngineOptions {
  std::size_t chunk_size = 256;  // tokens; more than 0
  std::size_t l1_size_bytes = std::size_t{1} << 30;
  std::chrono::seconds read_ttl{300};
  std::chrono::seconds write_ttl{600};
  std::string event_log_path;    // empty: block allocations are not logged
  ParagraphPatterns paragraphs;  // of CB_LOOKUP_PRE_COMPUTED
  Clock clock = steady_clock();
  // Told why a request was answered with a refusal that is not an error of its function.
  std::function<void(const std::string&)> on_refusal = [](const std::string&) {};
};

class Engine {
 public:
  // `device` must outlive the engine.
  Engine(EngineOptions options, Device& device);

  // REGISTER_KV_CACHE. An instance that is registered already is answered and stays as it was.
  Result<None> register_kv_cache(Int instance_id, const KVCache& kv_cache,
                                 const std::string& model_name, Int world_size, EngineType engine,
                                 const LayoutHints& hints);
  Result<None> unregister_kv_cache(Int instance_id);

  // STORE. Answers at once; the objects become readable when the copy is done, and before the
  // returned event completes. (handle, False) when block ids are too few or out of range, or there
  // is no room: then none of the new objects is there, and the key can be stored again.
  Result<TransferResult> store(const Key& key, Int instance_id, const IntArray& block_ids,
                               const Bytes& event_handle);

  // RETRIEVE. (handle, False), with the blocks untouched, unless all objects are read-locked; see
  // read_locks.h for whose locks count. Keeps the bytes alive until the copy is done.
  Result<TransferResult> retrieve(const Key& key, Int instance_id, const IntArray& block_ids,
                                  const Bytes& event_handle, Int skip_first_n_tokens);

  // LOOKUP. Its answer waits for the two QUERY_… requests.
  Result<None> lookup(const Key& key, Int tp_size);
  Result<OptionalInt> query_prefetch_status(const std::string& request_id);
  Result<OptionalInt> query_prefetch_lookup_hits(const std::string& request_id);
  // FREE_LOOKUP_LOCKS, of the chunks that lie in [start, end) whole.
  Result<None> free_lookup_locks(const Key& key, Int tp_size);

  Result<None> end_session(const std::string& request_id);
  Result<None> clear();
  Result<Int> get_chunk_size() const;
  Result<bool> ping() const;
  Result<std::string> noop() const;
  Result<None> report_block_allocations(Int instance_id, const std::string& model_name,
                                        const BlockAllocationRecords& records);

  // CB_REGISTER_KV_CACHE: one tensor [2, L, T, D], in place of the one the instance had.
  Result<None> cb_register_kv_cache(Int instance_id, const KVCache& kv_cache,
                                    const std::string& model_name, Int world_size);
  Result<None> cb_unregister_kv_cache(Int instance_id);

  // CB_STORE_PRE_COMPUTED, CB_STORE_FINAL: chunk i of all of key's tokens (start and end do not
  // count) from tokens [offset + i * chunk, …) of the buffer. The objects are those of a STORE, so
  // LOOKUP finds them too. (handle, False), with nothing stored, when the tokens lie outside of the
  // buffer, or there is no room.
  Result<TransferResult> cb_store_pre_computed(const Key& key, Int offset, Int instance_id,
                                               const Bytes& event_handle);
  Result<TransferResult> cb_store_final(const Key& key, Int offset, Int instance_id,
                                        const Bytes& event_handle);

  // CB_LOOKUP_PRE_COMPUTED (V1): of each paragraph of the query, the leading chunks that
  // CB_STORE_PRE_COMPUTED stored. Takes read locks as LOOKUP does; END_SESSION gives back those
  // that no retrieve has used.
  Result<Ranges> cb_lookup_pre_computed(const Key& key);
  // CB_LOOKUP_PRE_COMPUTED_V2: the chunks that any CB_STORE_… stored, at any position. Locks as V1.
  Result<CBMatchResults> cb_lookup_pre_computed_v2(const Key& key);

  // CB_RETRIEVE_PRE_COMPUTED: chunk i of each range to tokens [offset + start + i * chunk, …) of
  // the buffer; V2: each match to [offset + cur_st, …). (handle, False), with the buffer untouched,
  // unless all are read-locked and all tokens lie in the buffer.
  Result<TransferResult> cb_retrieve_pre_computed(const Key& key, const Ranges& ranges, Int offset,
                                                  Int instance_id, const Bytes& event_handle);
  Result<TransferResult> cb_retrieve_pre_computed_v2(const Key& key, const CBMatchResults& matches,
                                                     Int offset, Int instance_id,
                                                     const Bytes& event_handle);

  ObjectStore& objects() { return *objects_; }
  const BlendIndex& blend_index() const { return blend_index_; }

 private:
  // What STORE and RETRIEVE have in common, checked before anything happens.
  struct Transfer {
    RegistrationRef registration;
    std::vector<ChunkHash> chunks;  // of all tokens before the end
    std::vector<ObjectKey> keys;    // of the chunks in [start, end)
    std::shared_ptr<Event> client_event;
    std::shared_ptr<Event> done_event;
  };
  Result<Transfer> begin_transfer(const Key& key, Int instance_id, const Bytes& event_handle,
                                  bool empty_handle_is_fine);
  // That the objects of the key's model, where an instance of it is registered, are like the
  // instance's own.
  static Result<void> check_object_shape(const RegistrationTable& registrations, const Key& key,
                                         const Registration& registration);
  // The client's event, if there is one to wait for, and the one that is answered.
  Result<void> open_events(Transfer& transfer, const Bytes& event_handle,
                           bool empty_handle_is_fine);
  // The block ids of `num_chunks` chunks, or why they cannot be used.
  static Result<std::vector<std::int64_t>> checked_block_ids(const Layout& layout,
                                                             const IntArray& block_ids,
                                                             std::size_t num_chunks);
  TransferResult refused(const Transfer& transfer, const std::string& reason);

  // blend.cc. `keys` of a transfer are what it moves, `positions` where in the buffer, in tokens;
  // nothing for one that no buffer has.
  struct BlendTransfer : Transfer {
    KeyScope scope{};
    std::vector<std::optional<std::uint64_t>> positions;
  };
  Result<BlendTransfer> begin_blend_transfer(const Key& key, Int instance_id,
                                             const Bytes& event_handle, bool empty_handle_is_fine);
  // Where a chunk of tokens begins in the buffer; nothing where that is no number of tokens.
  static std::optional<std::uint64_t> blend_position(Int offset, Int first_token);
  Result<void> check_positions(const BlendTransfer& transfer) const;
  std::vector<std::int64_t> tokens_of_chunk(std::uint64_t position) const;
  Result<TransferResult> cb_store(const Key& key, Int offset, Int instance_id,
                                  const Bytes& event_handle, bool pre_computed);
  Result<TransferResult> cb_retrieve(const Key& key, BlendTransfer transfer, const char* name);
  std::size_t lock_for_blend(std::span<const ChunkHash> chunks, WorkerScopes& workers,
                             const ObjectShape& shape, RequestNumber request);

  const EngineOptions options_;
  Device& device_;
  // Shared with work that is queued on streams.
  std::shared_ptr<ObjectStore> objects_;
  SessionTable sessions_;
  LookupJobs lookup_jobs_;
  std::unique_ptr<EventLog> event_log_;  // null: not asked for
  BlendIndex blend_index_;
  BlendHolds blend_holds_;
  // Last: their ends end the streams.
  RegistrationTable registrations_;
  RegistrationTable blend_registrations_;
};

// How many locks a LOOKUP takes of each object, and a FREE releases: tp_size of them when all
// tensor-parallel ranks read one object (tp_size > world_size, MLA), else one.
std::uint64_t num_locks(Int tp_size, Int world_size);

// A model whose name holds '@' can be registered and looked up in vain, but no object can have it
// in its key (seed: ObjectKey).
Result<void> check_model_name(const Key& key);

}  // namespace kvc
