// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The CB_… requests: a blend buffer's chunks, found and put back at any position.
//
// The objects are those of the plain path: the chunk hash of the stored sequence from its own
// first token, so one stored paragraph serves LOOKUP, the V1 lookup (which hashes each paragraph of
// its query from the paragraph's first token) and the V2 lookup alike.
#include <algorithm>
#include <utility>

#include "engine/engine.h"
#include "engine/token_ids.h"
#include "engine/transfer_unit.h"

namespace kvc {
namespace {

Error invalid(std::string message) { return Error{Errc::kInvalidArgument, "", std::move(message)}; }

// Whose objects a transfer means. Without a worker_id it is the only worker's.
Result<Int> worker_of(const Key& key) {
  if (key.worker_id) return *key.worker_id;
  if (key.world_size == Int(1)) return Int(0);
  return invalid("worker_id is None, and must say whose data it is in a world of " +
                 key.world_size.to_string());
}

}  // namespace

Result<None> Engine::cb_register_kv_cache(Int instance_id, const KVCache& kv_cache,
                                          const std::string& model_name, Int world_size) {
  return blend_registrations_.put_blend(instance_id, kv_cache, model_name, world_size);
}

Result<None> Engine::cb_unregister_kv_cache(Int instance_id) {
  blend_registrations_.remove(instance_id);
  return None{};
}

Result<Engine::BlendTransfer> Engine::begin_blend_transfer(const Key& key, Int instance_id,
                                                           const Bytes& event_handle,
                                                           bool empty_handle_is_fine) {
  const Result<Int> worker = worker_of(key);
  if (!worker) return worker.error();
  if (Result<void> checked = check_model_name(key); !checked) return checked.error();
  BlendTransfer transfer;
  transfer.registration = blend_registrations_.find(instance_id);
  if (transfer.registration == nullptr)
    return Error{Errc::kNotFound, "",
                 "instance " + instance_id.to_string() + " has no blend buffer registered"};
  if (Result<void> checked = check_object_shape(blend_registrations_, key, *transfer.registration);
      !checked)
    return checked.error();
  transfer.scope = key_scope(key.model_name, key.world_size, *worker, key.cache_salt);
  if (Result<void> opened = open_events(transfer, event_handle, empty_handle_is_fine); !opened)
    return opened.error();
  return transfer;
}

std::optional<std::uint64_t> Engine::blend_position(Int offset, Int first_token) {
  // One of them may be negative, as long as the sum is not.
  const std::optional<std::int64_t> a = offset.as_i64();
  const std::optional<std::int64_t> b = first_token.as_i64();
  std::int64_t sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum) || sum < 0) return std::nullopt;
  return static_cast<std::uint64_t>(sum);
}

Result<void> Engine::check_positions(const BlendTransfer& transfer) const {
  const std::uint64_t num_tokens = transfer.registration->space->layout.num_blocks;
  for (const std::optional<std::uint64_t>& position : transfer.positions) {
    if (position && num_tokens >= options_.chunk_size &&
        *position <= num_tokens - options_.chunk_size)
      continue;
    return invalid("a chunk " +
                   (position ? "at token " + std::to_string(*position)
                             : std::string("before the first token or beyond 2^63")) +
                   " lies outside of the buffer's " + std::to_string(num_tokens) + " tokens");
  }
  return {};
}

std::vector<std::int64_t> Engine::tokens_of_chunk(std::uint64_t position) const {
  std::vector<std::int64_t> tokens(options_.chunk_size);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<std::int64_t>(position + i);
  return tokens;
}

Result<TransferResult> Engine::cb_store_pre_computed(const Key& key, Int offset, Int instance_id,
                                                     const Bytes& event_handle) {
  return cb_store(key, offset, instance_id, event_handle, true);
}

Result<TransferResult> Engine::cb_store_final(const Key& key, Int offset, Int instance_id,
                                              const Bytes& event_handle) {
  return cb_store(key, offset, instance_id, event_handle, false);
}

Result<TransferResult> Engine::cb_store(const Key& key, Int offset, Int instance_id,
                                        const Bytes& event_handle, bool pre_computed) {
  Result<BlendTransfer> transfer = begin_blend_transfer(key, instance_id, event_handle, false);
  if (!transfer) return transfer.error();
  const std::size_t num_chunks = key.token_ids.size() / options_.chunk_size;
  const Result<std::vector<std::uint32_t>> tokens =
      leading_tokens(key.token_ids, num_chunks * options_.chunk_size);
  if (!tokens) return tokens.error();
  transfer->chunks = hash_chunks(*tokens, options_.chunk_size);
  for (std::size_t i = 0; i < num_chunks; ++i) {
    transfer->keys.push_back({transfer->chunks[i], transfer->scope});
    transfer->positions.push_back(blend_position(offset, Int(i * options_.chunk_size)));
  }
  const char* const name = pre_computed ? "CB_STORE_PRE_COMPUTED: " : "CB_STORE_FINAL: ";
  if (Result<void> checked = check_positions(*transfer); !checked)
    return refused(*transfer, name + checked.error().text());
  Registration& registration = *transfer->registration;
  auto reserved =
      objects_->reserve(transfer->keys, registration.space->layout.chunk_bytes, registration.shape);
  if (!reserved) return refused(*transfer, name + reserved.error().text());
  auto pending = std::make_shared<PendingStore>(objects_, *std::move(reserved));

  std::vector<ChunkCopy> copies;
  for (std::size_t i = 0; i < num_chunks; ++i) {
    const ObjectRef& object = pending->objects()[i];
    if (object == nullptr) continue;  // is there already: the first writer wins
    copies.push_back(ChunkCopy{CopyDirection::kBlocksToChunk, object->bytes(),
                               tokens_of_chunk(*transfer->positions[i]), 0});
  }
  // All workers store the same tokens; one of them says so.
  const bool speaks_for_all = !key.worker_id || *key.worker_id == Int(0);
  blend_index_.add(tenant_of(key),
                   {*tokens, transfer->chunks, transfer->scope, speaks_for_all, pre_computed});
  queue_unit<PendingStore>(registration, std::move(copies), transfer->client_event,
                           transfer->done_event, std::move(pending),
                           [](PendingStore& finished) { finished.publish(); });
  return TransferResult{transfer->done_event->ipc_handle(), true};
}

std::size_t Engine::lock_for_blend(std::span<const ChunkHash> chunks, WorkerScopes& workers,
                                   const ObjectShape& shape, RequestNumber request) {
  const std::size_t num_locked = objects_->lock_leading_run(chunks, workers, shape, request, 1);
  std::vector<ObjectKey> keys;
  for (const ChunkHash& chunk : chunks.first(num_locked))
    for (std::uint64_t worker = 0; worker < workers.size(); ++worker)
      keys.push_back({chunk, workers.at(worker)});
  blend_holds_.add(request, keys);
  return num_locked;
}

Result<Ranges> Engine::cb_lookup_pre_computed(const Key& key) {
  Ranges ranges;
  const std::optional<ObjectShape> shape =
      blend_registrations_.find_shape(key.model_name, key.world_size);
  if (!shape) return ranges;
  const Result<std::vector<std::uint32_t>> tokens =
      leading_tokens(key.token_ids, key.token_ids.size());
  if (!tokens) return tokens.error();
  const Tenant tenant = tenant_of(key);
  const RequestNumber request = request_number(key.request_id);
  WorkerScopes workers(key);
  for (const TokenRange& paragraph : split_paragraphs(*tokens, options_.paragraphs)) {
    const std::vector<ChunkHash> chunks =
        hash_chunks(std::span(*tokens).subspan(paragraph.first, paragraph.end - paragraph.first),
                    options_.chunk_size);
    const std::size_t num_stored = blend_index_.leading_pre_computed(tenant, chunks);
    const std::size_t num_found =
        lock_for_blend(std::span(chunks).first(num_stored), workers, *shape, request);
    if (num_found > 0)
      ranges.push_back(
          {Int(paragraph.first), Int(paragraph.first + num_found * options_.chunk_size)});
  }
  return ranges;
}

Result<CBMatchResults> Engine::cb_lookup_pre_computed_v2(const Key& key) {
  CBMatchResults results;
  const std::optional<ObjectShape> shape =
      blend_registrations_.find_shape(key.model_name, key.world_size);
  if (!shape) return results;
  const Result<std::vector<TokenSegment>> query = token_segments(key.token_ids);
  if (!query) return query.error();
  const RequestNumber request = request_number(key.request_id);
  WorkerScopes workers(key);
  const auto lock = [&](const BlendMatcher::Placement& placement) {
    return lock_for_blend({&placement.hash, 1}, workers, *shape, request) == 1;
  };
  for (const BlendMatcher::Match& match : blend_index_.find(tenant_of(key), *query, lock)) {
    const std::uint64_t old_st = match.placement.old_st;
    results.push_back({Int(old_st), Int(old_st + options_.chunk_size), Int(match.cur_st),
                       Int(match.cur_st + options_.chunk_size),
                       Bytes(match.placement.hash.begin(), match.placement.hash.end())});
  }
  return results;
}

Result<TransferResult> Engine::cb_retrieve_pre_computed(const Key& key, const Ranges& ranges,
                                                        Int offset, Int instance_id,
                                                        const Bytes& event_handle) {
  Result<BlendTransfer> transfer = begin_blend_transfer(key, instance_id, event_handle, true);
  if (!transfer) return transfer.error();
  const Result<std::vector<std::uint32_t>> tokens =
      leading_tokens(key.token_ids, key.token_ids.size());
  if (!tokens) return tokens.error();
  constexpr const char* kName = "CB_RETRIEVE_PRE_COMPUTED";
  for (const Range& range : ranges) {
    const std::optional<std::uint64_t> start = range.start.as_u64();
    const std::optional<std::uint64_t> end = range.end.as_u64();
    if (!start || !end || *start > *end || *end > tokens->size())
      return refused(*transfer, std::string(kName) + ": [" + range.start.to_string() + ", " +
                                    range.end.to_string() + ") is no range of the " +
                                    std::to_string(tokens->size()) + " tokens");
    const std::vector<ChunkHash> chunks =
        hash_chunks(std::span(*tokens).subspan(*start, *end - *start), options_.chunk_size);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      transfer->keys.push_back({chunks[i], transfer->scope});
      transfer->positions.push_back(blend_position(offset, Int(*start + i * options_.chunk_size)));
    }
  }
  return cb_retrieve(key, *std::move(transfer), kName);
}

Result<TransferResult> Engine::cb_retrieve_pre_computed_v2(const Key& key,
                                                           const CBMatchResults& matches,
                                                           Int offset, Int instance_id,
                                                           const Bytes& event_handle) {
  Result<BlendTransfer> transfer = begin_blend_transfer(key, instance_id, event_handle, true);
  if (!transfer) return transfer.error();
  constexpr const char* kName = "CB_RETRIEVE_PRE_COMPUTED_V2";
  for (const CBMatchResult& match : matches) {
    ChunkHash hash;
    if (match.hash.size() != hash.size())
      return refused(*transfer, std::string(kName) + ": a hash of " +
                                    std::to_string(match.hash.size()) + " bytes names no chunk");
    std::copy(match.hash.begin(), match.hash.end(), hash.begin());
    transfer->keys.push_back({hash, transfer->scope});
    transfer->positions.push_back(blend_position(offset, match.cur_st));
  }
  return cb_retrieve(key, *std::move(transfer), kName);
}

Result<TransferResult> Engine::cb_retrieve(const Key& key, BlendTransfer transfer,
                                           const char* name) {
  if (Result<void> checked = check_positions(transfer); !checked)
    return refused(transfer, std::string(name) + ": " + checked.error().text());
  const RequestNumber request = request_number(key.request_id);
  std::vector<ObjectRef> objects =
      objects_->begin_read(transfer.keys, transfer.registration->shape, request);
  if (objects.size() != transfer.keys.size())
    return refused(transfer, std::string(name) + ": not all chunks are locked for reading");
  auto pending = std::make_shared<PendingRead>(objects_, std::move(objects));
  blend_holds_.used(request, transfer.keys);
  std::vector<ChunkCopy> copies;
  for (std::size_t i = 0; i < transfer.keys.size(); ++i)
    copies.push_back(ChunkCopy{CopyDirection::kChunkToBlocks, pending->objects()[i]->bytes(),
                               tokens_of_chunk(*transfer.positions[i]), 0});
  queue_unit<PendingRead>(*transfer.registration, std::move(copies), transfer.client_event,
                          transfer.done_event, std::move(pending), [](PendingRead&) {});
  return TransferResult{transfer.done_event->ipc_handle(), true};
}

}  // namespace kvc
