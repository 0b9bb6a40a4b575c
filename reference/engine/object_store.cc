// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/object_store.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "kvc/protocol/assert.h"

namespace kvc {

Object::~Object() {
  const std::lock_guard lock(arena_->mutex);
  arena_->arena.release(memory_);
}

ObjectStore::ObjectStore(ObjectStoreOptions options)
    : options_(std::move(options)), arena_(std::make_shared<SharedArena>(options_.size_bytes)) {
  if (options_.pin) arena_->pinned = options_.pin(arena_->arena.memory());
}

Result<std::vector<ObjectRef>> ObjectStore::reserve(std::span<const ObjectKey> keys,
                                                    std::size_t object_bytes,
                                                    const ObjectShape& shape) {
  const std::lock_guard lock(mutex_);
  const TimePoint now = options_.clock();
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Object* object = find_live(keys[i], now);
    // A registration with another layout is gone, or this one would not have been let in.
    if (object != nullptr && object->shape_ != shape) {
      drop(*object);
      object = nullptr;
    }
    if (object == nullptr) missing.push_back(i);
  }
  // The chunks before and between the new ones are worth no less than these.
  for (auto key = keys.rbegin(); key != keys.rend(); ++key)
    if (Object* object = find_live(*key, now); object != nullptr) make_recent(*object);

  std::vector<ObjectRef> reserved(keys.size());
  if (missing.empty()) return reserved;
  const auto pieces = allocate(missing.size(), object_bytes, now);
  if (!pieces)
    return Error{Errc::kNoMemory, "",
                 "no room for " + std::to_string(missing.size()) + " objects of " +
                     std::to_string(object_bytes) + " bytes"};
  for (std::size_t i = missing.size(); i-- > 0;) {  // the last becomes the least recent
    ObjectRef& object = reserved[missing[i]];
    object = std::make_shared<Object>(arena_, (*pieces)[i], keys[missing[i]], shape);
    object->write_expires_ = now + options_.write_ttl;
    insert(object);
  }
  return reserved;
}

void ObjectStore::publish(std::span<const ObjectRef> objects) {
  const std::lock_guard lock(mutex_);
  const TimePoint now = options_.clock();
  for (const ObjectRef& object : objects) {
    if (object == nullptr || !object->indexed_ || object->ready_) continue;
    if (now >= object->write_expires_)
      drop(*object);
    else
      object->ready_ = true;
  }
}

void ObjectStore::abandon(std::span<const ObjectRef> objects) {
  const std::lock_guard lock(mutex_);
  for (const ObjectRef& object : objects)
    if (object != nullptr && object->indexed_ && !object->ready_) drop(*object);
}

std::size_t ObjectStore::lock_leading_run(std::span<const ChunkHash> chunks, WorkerScopes& workers,
                                          const ObjectShape& shape, RequestNumber request,
                                          std::uint64_t count) {
  if (workers.size() == 0) return 0;
  const std::lock_guard lock(mutex_);
  const TimePoint now = options_.clock();
  std::vector<Object*> found;
  std::size_t num_chunks = 0;
  for (; num_chunks < chunks.size(); ++num_chunks) {
    const std::size_t num_found_before = found.size();
    std::uint64_t worker = 0;
    for (; worker < workers.size(); ++worker) {
      Object* object = find_readable({chunks[num_chunks], workers.at(worker)}, shape, now);
      if (object == nullptr) break;
      found.push_back(object);
    }
    if (worker < workers.size()) {
      found.resize(num_found_before);
      break;
    }
  }
  for (Object* object : found)
    object->read_locks_.add(request, count, now + options_.read_ttl, now);
  for (auto object = found.rbegin(); object != found.rend(); ++object) make_recent(**object);
  return num_chunks;
}

void ObjectStore::release_locks(std::span<const ChunkHash> chunks, WorkerScopes& workers,
                                RequestNumber request, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  const TimePoint now = options_.clock();
  for (const ChunkHash& chunk : chunks) {
    // A lookup locks a chunk for all workers or for none: the first that is missing ends it.
    for (std::uint64_t worker = 0; worker < workers.size(); ++worker) {
      Object* object = find_live({chunk, workers.at(worker)}, now);
      if (object == nullptr) break;
      object->read_locks_.release(request, count, now);
    }
  }
}

void ObjectStore::release_locks(const ObjectKey& key, RequestNumber request, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  const TimePoint now = options_.clock();
  if (Object* object = find_live(key, now); object != nullptr)
    object->read_locks_.release(request, count, now);
}

std::vector<ObjectRef> ObjectStore::begin_read(std::span<const ObjectKey> keys,
                                               const ObjectShape& shape, RequestNumber request) {
  const std::lock_guard lock(mutex_);
  const TimePoint now = options_.clock();
  std::vector<ObjectRef> objects;
  objects.reserve(keys.size());
  std::unordered_map<const Object*, std::uint64_t> num_wanted;
  for (const ObjectKey& key : keys) {
    const Object* object = find_readable(key, shape, now);
    if (object == nullptr || object->read_locks_.num_takable(request, now) < ++num_wanted[object])
      return {};
    objects.push_back(index_.at(key));
  }
  for (const ObjectRef& object : objects) {
    const bool taken = object->read_locks_.take(request, now);
    KVC_ASSERT(taken);  // counted above
    ++object->num_reading_;
  }
  return objects;
}

void ObjectStore::end_read(std::span<const ObjectRef> objects) {
  const std::lock_guard lock(mutex_);
  for (auto at = objects.rbegin(); at != objects.rend(); ++at) {
    Object& object = **at;
    KVC_ASSERT(object.num_reading_ > 0);
    --object.num_reading_;
    if (object.indexed_) make_recent(object);
  }
}

void ObjectStore::touch(std::span<const ChunkHash> chunks, WorkerScopes& workers) {
  const std::lock_guard lock(mutex_);
  const TimePoint now = options_.clock();
  for (auto chunk = chunks.rbegin(); chunk != chunks.rend(); ++chunk) {
    for (std::uint64_t worker = 0; worker < workers.size(); ++worker) {
      Object* object = find_live({*chunk, workers.at(worker)}, now);
      if (object == nullptr) break;
      make_recent(*object);
    }
  }
}

void ObjectStore::clear() {
  Index gone;  // frees its memory outside the lock
  {
    const std::lock_guard lock(mutex_);
    gone.swap(index_);
    recency_.clear();
    for (const auto& [key, object] : gone) object->indexed_ = false;
  }
}

bool ObjectStore::readable(const ObjectKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto entry = index_.find(key);
  return entry != index_.end() && entry->second->ready_;
}

bool ObjectStore::exists(const ObjectKey& key) const {
  const std::lock_guard lock(mutex_);
  return index_.contains(key);
}

std::uint64_t ObjectStore::num_read_locks(const ObjectKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto entry = index_.find(key);
  return entry == index_.end() ? 0 : entry->second->read_locks_.count(options_.clock());
}

std::size_t ObjectStore::num_objects() const {
  const std::lock_guard lock(mutex_);
  return index_.size();
}

std::size_t ObjectStore::free_bytes() const {
  const std::lock_guard lock(arena_->mutex);
  return arena_->arena.free_bytes();
}

std::size_t ObjectStore::size_bytes() const {
  const std::lock_guard lock(arena_->mutex);
  return arena_->arena.size_bytes();
}

Object* ObjectStore::find_live(const ObjectKey& key, TimePoint now) {
  const auto entry = index_.find(key);
  if (entry == index_.end()) return nullptr;
  Object& object = *entry->second;
  if (object.ready_ || now < object.write_expires_) return &object;
  drop(object);
  return nullptr;
}

Object* ObjectStore::find_readable(const ObjectKey& key, const ObjectShape& shape, TimePoint now) {
  Object* object = find_live(key, now);
  return object != nullptr && object->ready_ && object->shape_ == shape ? object : nullptr;
}

std::optional<std::vector<std::span<std::uint8_t>>> ObjectStore::allocate(std::size_t count,
                                                                          std::size_t object_bytes,
                                                                          TimePoint now) {
  if (object_bytes > size_bytes() || Arena::rounded(object_bytes) > size_bytes() / count)
    return std::nullopt;
  if (!can_make_room(count * Arena::rounded(object_bytes), now)) return std::nullopt;
  std::vector<std::span<std::uint8_t>> pieces;
  auto candidate = recency_.begin();
  while (pieces.size() < count) {
    if (const auto piece = try_allocate(object_bytes); piece) {
      pieces.push_back(*piece);
      continue;
    }
    while (candidate != recency_.end() && !evictable(**candidate, now)) ++candidate;
    if (candidate == recency_.end()) {  // room enough, but in pieces between locked objects
      const std::lock_guard lock(arena_->mutex);
      for (const std::span<std::uint8_t> piece : pieces) arena_->arena.release(piece);
      return std::nullopt;
    }
    Object& victim = **candidate++;
    drop(victim);
  }
  return pieces;
}

std::optional<std::span<std::uint8_t>> ObjectStore::try_allocate(std::size_t object_bytes) {
  const std::lock_guard lock(arena_->mutex);
  return arena_->arena.allocate(object_bytes);
}

bool ObjectStore::evictable(const Object& object, TimePoint now) const {
  if (!object.ready_) return now >= object.write_expires_;
  return object.num_reading_ == 0 && !object.read_locks_.locked(now);
}

bool ObjectStore::can_make_room(std::size_t bytes, TimePoint now) const {
  std::size_t room = free_bytes();
  for (auto at = recency_.begin(); room < bytes && at != recency_.end(); ++at) {
    // An expired writer may still hold its bytes; they come back when it ends.
    if ((*at)->ready_ && evictable(**at, now)) room += (*at)->memory_.size();
  }
  return room >= bytes;
}

void ObjectStore::insert(const ObjectRef& object) {
  object->recency_ = recency_.insert(recency_.end(), object.get());
  object->indexed_ = true;
  index_.emplace(object->key_, object);
}

void ObjectStore::drop(Object& object) {
  recency_.erase(object.recency_);
  object.indexed_ = false;
  index_.erase(index_.find(object.key_));  // may destroy the object
}

void ObjectStore::make_recent(Object& object) {
  recency_.splice(recency_.end(), recency_, object.recency_);
}

}  // namespace kvc
