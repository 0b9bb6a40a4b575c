// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/engine.h"

#include <random>
#include <utility>

#include "kvc/device/pin_memory.h"
#include "kvc/protocol/assert.h"

namespace kvc {
namespace {

std::uint64_t random_secret() {
  std::random_device random;
  return std::uint64_t{random()} << 32U | random();
}

}  // namespace

Engine::Engine(EngineOptions options, Device& device)
    : options_(std::move(options)),
      device_(device),
      objects_(std::make_shared<ObjectStore>(ObjectStoreOptions{
          options_.l1_size_bytes, options_.read_ttl, options_.write_ttl, options_.clock,
          [this](std::span<std::uint8_t> memory) { return pin_host_memory(device_, memory); }})),
      sessions_(options_.clock),
      lookup_jobs_(options_.clock),
      event_log_(options_.event_log_path.empty()
                     ? nullptr
                     : std::make_unique<EventLog>(options_.event_log_path)),
      blend_index_(options_.chunk_size, random_secret(),
                   [objects = objects_](const ObjectKey& key) { return objects->exists(key); }),
      blend_holds_(options_.clock, options_.read_ttl),
      registrations_(device, options_.chunk_size, options_.write_ttl),
      blend_registrations_(device, options_.chunk_size, options_.write_ttl) {
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
  const RequestNumber request = request_number(request_id);
  std::optional<Session> session = sessions_.end(request);
  if (session) objects_->touch(session->chunks, session->workers);
  for (const auto& [key, count] : blend_holds_.end(request))
    objects_->release_locks(key, request, count);
  return None{};
}

Result<None> Engine::clear() {
  // The index first: what is stored between the two is then gone, and not in the index for nothing.
  blend_index_.clear();
  blend_holds_.clear();
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
