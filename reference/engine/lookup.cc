// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// LOOKUP, its two queries, and FREE_LOOKUP_LOCKS.
#include <algorithm>
#include <utility>

#include "engine/engine.h"

namespace kvc {
namespace {

// The most locks that one call takes of an object (seed: MAX_READ_LOCK_COUNT).
constexpr std::uint64_t kLocksPerCallMax = 128;

}  // namespace

std::uint64_t num_locks(Int tp_size, Int world_size) {
  if (tp_size <= Int(1) || tp_size <= world_size) return 1;
  return std::min(tp_size.as_u64().value_or(1), kLocksPerCallMax);
}

Result<void> check_model_name(const Key& key) {
  if (key.model_name.find('@') != std::string::npos)
    return Error{Errc::kInvalidArgument, "$.model_name", "must not contain '@'"};
  return {};
}

Result<None> Engine::lookup(const Key& key, Int tp_size) {
  const RequestNumber request = request_number(key.request_id);
  const std::optional<ObjectShape> shape =
      registrations_.find_shape(key.model_name, key.world_size);
  const std::size_t num_chunks = key.token_ids.size() / options_.chunk_size;
  if (!shape || num_chunks == 0) {
    lookup_jobs_.put(request, 0);
    return None{};
  }
  if (Result<void> checked = check_model_name(key); !checked) return checked.error();
  Result<std::vector<ChunkHash>> chunks =
      hash_chunks(key.token_ids, options_.chunk_size, num_chunks);
  if (!chunks) return chunks.error();

  WorkerScopes workers(key);
  const std::size_t num_found = objects_->lock_leading_run(*chunks, workers, *shape, request,
                                                           num_locks(tp_size, key.world_size));
  sessions_.begin(request, Session{std::move(workers), *std::move(chunks)});
  lookup_jobs_.put(request, num_found);
  return None{};
}

Result<OptionalInt> Engine::query_prefetch_status(const std::string& request_id) {
  return OptionalInt(lookup_jobs_.take(request_number(request_id)).value_or(0));
}

Result<OptionalInt> Engine::query_prefetch_lookup_hits(const std::string& request_id) {
  return OptionalInt(lookup_jobs_.peek(request_number(request_id)).value_or(0));
}

Result<None> Engine::free_lookup_locks(const Key& key, Int tp_size) {
  const ChunkRange range =
      whole_chunks(key.start, key.end, key.token_ids.size(), options_.chunk_size);
  if (range.first == range.end) return None{};
  if (Result<void> checked = check_model_name(key); !checked) return checked.error();
  const Result<std::vector<ChunkHash>> chunks =
      hash_chunks(key.token_ids, options_.chunk_size, range.end);
  if (!chunks) return chunks.error();
  WorkerScopes workers(key);
  objects_->release_locks(std::span(*chunks).subspan(range.first), workers,
                          request_number(key.request_id), num_locks(tp_size, key.world_size));
  return None{};
}

}  // namespace kvc
