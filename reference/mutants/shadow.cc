// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "mutants/shadow.h"

#include <algorithm>

#include "engine/chunk_hash.h"
#include "engine/object_key.h"
#include "engine/registration.h"
#include "kvc/device/open_tensor.h"

namespace kvc::mutants {

std::shared_ptr<InstanceBook> InstanceBook::kept(const Parts& parts) {
  auto book = std::make_shared<InstanceBook>();
  const auto add = [book, parts](Call& call) {
    const auto id = call.get<Int>(0);
    const auto cache = call.get<KVCache>(1);
    const auto model = call.get<std::string>(2);
    const auto world = call.get<Int>(3);
    const auto engine = call.get<EngineType>(4);
    const auto hints = call.get<LayoutHints>(5);
    Outcome outcome = call.next();
    if (!outcome.reply || !id || !cache || !model || !world || !engine || !hints) return outcome;
    const auto space = open_block_space(parts.device, *cache, *engine, *hints, parts.chunk_size);
    if (!space) return outcome;
    const std::lock_guard lock(book->mutex_);
    book->instances_.try_emplace(
        *id, std::make_shared<const Instance>(Instance{*model, *world, *space}));
    return outcome;
  };
  around(parts.handlers, {RequestType::kRegisterKvCache}, add);
  around(parts.handlers, {RequestType::kUnregisterKvCache}, [book](Call& call) {
    if (const auto id = call.get<Int>(0)) {
      const std::lock_guard lock(book->mutex_);
      book->instances_.erase(*id);
    }
    return call.next();
  });
  return book;
}

std::shared_ptr<const InstanceBook::Instance> InstanceBook::find(Int instance_id) const {
  const std::lock_guard lock(mutex_);
  const auto found = instances_.find(instance_id);
  return found == instances_.end() ? nullptr : found->second;
}

std::optional<ObjectShape> InstanceBook::shape_of(const std::string& model_name,
                                                  Int world_size) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, instance] : instances_)
    if (instance->model_name == model_name && instance->world_size == world_size)
      return object_shape(instance->space->layout);
  return std::nullopt;
}

std::vector<Int> InstanceBook::ids() const {
  const std::lock_guard lock(mutex_);
  std::vector<Int> ids;
  for (const auto& [id, instance] : instances_) ids.push_back(id);
  return ids;
}

void KeyBook::add(const Key& key) {
  if (key.token_ids.size() > kTokensMax) return;
  Key owned = key;
  owned.token_ids = owned.token_ids.own();
  const std::lock_guard lock(mutex_);
  keys_.push_back(std::move(owned));
  if (keys_.size() > kKeysMax) keys_.pop_front();
}

std::vector<Key> KeyBook::all() const {
  const std::lock_guard lock(mutex_);
  return {keys_.begin(), keys_.end()};
}

std::optional<Key> KeyBook::of_request(const std::string& request_id) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(keys_.rbegin(), keys_.rend(),
                                  [&](const Key& key) { return key.request_id == request_id; });
  return found == keys_.rend() ? std::nullopt : std::optional<Key>(*found);
}

std::vector<Key> KeyBook::take_request(const std::string& request_id) {
  const std::lock_guard lock(mutex_);
  const auto first = std::stable_partition(
      keys_.begin(), keys_.end(), [&](const Key& key) { return key.request_id != request_id; });
  std::vector<Key> taken(first, keys_.end());
  keys_.erase(first, keys_.end());
  return taken;
}

void KeyBook::clear() {
  const std::lock_guard lock(mutex_);
  keys_.clear();
}

std::shared_ptr<KeyBook> keys_of(const Parts& parts, std::initializer_list<RequestType> types) {
  auto book = std::make_shared<KeyBook>();
  around(parts.handlers, types, [book](Call& call) {
    const auto key = call.get<Key>(0);
    Outcome outcome = call.next();
    if (outcome.reply && key) book->add(*key);
    return outcome;
  });
  return book;
}

std::vector<ChunkHash> chunks_of(const Key& key, std::size_t chunk_size) {
  auto chunks = hash_chunks(key.token_ids, chunk_size, key.token_ids.size() / chunk_size);
  return chunks ? *std::move(chunks) : std::vector<ChunkHash>{};
}

std::vector<ObjectKey> objects_of(const Key& key, std::size_t chunk_size) {
  const KeyScope scope =
      key_scope(key.model_name, key.world_size, key.worker_id.value_or(Int(0)), key.cache_salt);
  std::vector<ObjectKey> objects;
  for (const ChunkHash& chunk : chunks_of(key, chunk_size)) objects.push_back({chunk, scope});
  return objects;
}

void forget(ObjectStore& store, std::span<const ObjectKey> objects) {
  // An object of another shape gives way to a reservation, and that one to nothing.
  ObjectShape no_shape{};
  no_shape.fill(0xee);
  if (const auto reserved = store.reserve(objects, 1, no_shape)) store.abandon(*reserved);
}

Changes with_keys(std::initializer_list<RequestType> types, std::function<void(Key&)> change) {
  return with_calls(types, [change = std::move(change)](Call& call, const Parts&) {
    call.change<Key>(0, change);
    return call.next();
  });
}

Changes with_keys_and_chunk_size(std::initializer_list<RequestType> types,
                                 std::function<void(Key&, std::size_t)> change) {
  return with_calls(types, [change = std::move(change)](Call& call, const Parts& parts) {
    call.change<Key>(0, [&](Key& key) { change(key, parts.chunk_size); });
    return call.next();
  });
}

Changes with_calls(std::initializer_list<RequestType> types,
                   std::function<Outcome(Call&, const Parts&)> flaw) {
  return {.handlers = [types = std::vector<RequestType>(types),
                       flaw = std::move(flaw)](const Parts& parts) {
    for (const RequestType type : types)
      around(parts.handlers, {type}, [flaw, parts](Call& call) { return flaw(call, parts); });
  }};
}

}  // namespace kvc::mutants
