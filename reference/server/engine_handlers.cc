// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "server/engine_handlers.h"

#include <functional>
#include <vector>

namespace kvc::server {
namespace {

// A function of the engine as a handler. The registry's check sees the function's own types.
template <class R, class... P>
std::function<Result<R>(P...)> handler_of(Engine& engine, Result<R> (Engine::*function)(P...)) {
  return [&engine, function](P... payloads) { return (engine.*function)(payloads...); };
}
template <class R, class... P>
std::function<Result<R>(P...)> handler_of(const Engine& engine,
                                          Result<R> (Engine::*function)(P...) const) {
  return [&engine, function](P... payloads) { return (engine.*function)(payloads...); };
}

Result<void> add_all(HandlerTable& table, Engine& engine) {
  Result<void> added;
  const auto add = [&](RequestType type, auto function) {
    if (added) added = table.add_handler(type, handler_of(engine, function));
  };
  add(RequestType::kRegisterKvCache, &Engine::register_kv_cache);
  add(RequestType::kUnregisterKvCache, &Engine::unregister_kv_cache);
  add(RequestType::kStore, &Engine::store);
  add(RequestType::kRetrieve, &Engine::retrieve);
  add(RequestType::kLookup, &Engine::lookup);
  add(RequestType::kQueryPrefetchStatus, &Engine::query_prefetch_status);
  add(RequestType::kQueryPrefetchLookupHits, &Engine::query_prefetch_lookup_hits);
  add(RequestType::kFreeLookupLocks, &Engine::free_lookup_locks);
  add(RequestType::kEndSession, &Engine::end_session);
  add(RequestType::kClear, &Engine::clear);
  add(RequestType::kGetChunkSize, &Engine::get_chunk_size);
  add(RequestType::kPing, &Engine::ping);
  add(RequestType::kReportBlockAllocation, &Engine::report_block_allocations);
  add(RequestType::kNoop, &Engine::noop);
  add(RequestType::kCbRegisterKvCache, &Engine::cb_register_kv_cache);
  add(RequestType::kCbUnregisterKvCache, &Engine::cb_unregister_kv_cache);
  add(RequestType::kCbStorePreComputed, &Engine::cb_store_pre_computed);
  add(RequestType::kCbLookupPreComputed, &Engine::cb_lookup_pre_computed);
  add(RequestType::kCbRetrievePreComputed, &Engine::cb_retrieve_pre_computed);
  add(RequestType::kCbStoreFinal, &Engine::cb_store_final);
  add(RequestType::kCbLookupPreComputedV2, &Engine::cb_lookup_pre_computed_v2);
  add(RequestType::kCbRetrievePreComputedV2, &Engine::cb_retrieve_pre_computed_v2);
  return added;
}

}  // namespace

EngineOptions engine_options(const Options& options) {
  EngineOptions out;
  out.chunk_size = options.chunk_size;
  out.l1_size_bytes = options.l1_size_bytes();
  out.read_ttl = std::chrono::seconds(options.read_ttl_s);
  out.write_ttl = std::chrono::seconds(options.write_ttl_s);
  out.event_log_path = options.event_log;
  out.paragraphs = options.paragraphs;
  return out;
}

Result<void> add_engine_handlers(HandlerTable& table, Engine& engine, const PoolSizes& sizes) {
  if (Result<void> added = add_all(table, engine); !added) return added;
  if (Result<void> assigned = table.add_affinity_thread_pool(
          {RequestType::kStore, RequestType::kRetrieve, RequestType::kCbStorePreComputed,
           RequestType::kCbStoreFinal, RequestType::kCbRetrievePreComputed,
           RequestType::kCbRetrievePreComputedV2},
          sizes.max_gpu_workers);
      !assigned)
    return assigned;
  return table.add_normal_thread_pool(
      {RequestType::kLookup, RequestType::kQueryPrefetchStatus,
       RequestType::kQueryPrefetchLookupHits, RequestType::kFreeLookupLocks,
       RequestType::kEndSession, RequestType::kClear, RequestType::kPing,
       RequestType::kReportBlockAllocation, RequestType::kCbLookupPreComputed,
       RequestType::kCbLookupPreComputedV2},
      sizes.max_cpu_workers);
}

}  // namespace kvc::server
