// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/engine.h"

#include <utility>

#include "kvc/protocol/assert.h"

namespace kvc {

Engine::Engine(EngineOptions options, Device& device)
    : options_(std::move(options)),
      device_(device),
      objects_(std::make_shared<ObjectStore>(ObjectStoreOptions{
          options_.l1_size_bytes, options_.read_ttl, options_.write_ttl, options_.clock})),
      sessions_(options_.clock),
      lookup_jobs_(options_.clock),
      event_log_(options_.event_log_path.empty()
                     ? nullptr
                     : std::make_unique<EventLog>(options_.event_log_path)),
      registrations_(device, options_.chunk_size, options_.write_ttl) {
  KVC_ASSERT(options_.chunk_size > 0);
}

Result<None> Engine::register_kv_cache(Int instance_id, const KVCache& kv_cache,
                                       const std::string& model_name, Int world_size,
                                       EngineType engine, const LayoutHints& hints) {
  const Result<bool> added =
      registrations_.add(instance_id, kv_cache, model_name, world_size, engine, hints);
  if (!added) return added.error();
  if (!*added)
    options_.on_refusal("REGISTER_KV_CACHE: instance " + instance_id.to_string() +
                        " is registered already, and stays as it is");
  return None{};
}

Result<None> Engine::unregister_kv_cache(Int instance_id) {
  registrations_.remove(instance_id);
  return None{};
}

Result<None> Engine::end_session(const std::string& request_id) {
  std::optional<Session> session = sessions_.end(request_number(request_id));
  if (session) objects_->touch(session->chunks, session->workers);
  return None{};
}

Result<None> Engine::clear() {
  objects_->clear();
  return None{};
}

Result<Int> Engine::get_chunk_size() const { return Int(options_.chunk_size); }

Result<bool> Engine::ping() const { return true; }

Result<std::string> Engine::noop() const { return std::string("OK"); }

Result<None> Engine::report_block_allocations(Int instance_id, const std::string& model_name,
                                              const BlockAllocationRecords& records) {
  if (event_log_ != nullptr) event_log_->append(instance_id, model_name, records);
  return None{};
}

}  // namespace kvc
