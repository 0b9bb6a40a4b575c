// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ObjectStore: the chunk objects, their locks and their memory.
//
//   reserve ──▶ writing ──publish──▶ ready ──evicted, cleared──▶ gone
//                  └──abandon, write lock expired──▶ gone
//
// An object is found under its key only while it is writing or ready, and read only when ready. The
// first writer wins: a key that is there is not reserved again. A write lock that expires makes the
// object as if it had never been; the late writer's publish() then does nothing.
//
// Memory: an ObjectRef keeps the object's bytes alive, also when CLEAR or an expiry has taken its
// key away meanwhile, so a copy in flight never meets foreign bytes. The bytes go back to the arena
// with the last reference, even if the store is gone by then.
//
// Eviction happens in reserve(), as much as is needed, least recently used first, and never an
// object that is read-locked, being written, or being read. Within one request the later chunks go
// first: without its head, a tail is of no use.
//
// Time comes from the clock that is passed in. Any thread may call anything.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/arena.h"
#include "engine/clock.h"
#include "engine/object_key.h"
#include "engine/read_locks.h"
#include "engine/worker_scopes.h"
#include "kvc/protocol/result.h"

namespace kvc {

// Stands for the layout of an object's bytes; see object_shape() in registration.h. Objects of
// another shape than asked for are as good as absent.
using ObjectShape = std::array<std::uint8_t, 16>;

class SharedArena {
 public:
  explicit SharedArena(std::size_t size_bytes) : arena(size_bytes) {}
  std::mutex mutex;
  Arena arena;                   // guarded by mutex
  std::shared_ptr<void> pinned;  // goes before the memory does
};

// One chunk object. Its bytes may be used by whoever reserved or reads it; all else is the store's.
class Object {
 public:
  Object(std::shared_ptr<SharedArena> arena, std::span<std::uint8_t> memory, const ObjectKey& key,
         const ObjectShape& shape)
      : arena_(std::move(arena)), memory_(memory), key_(key), shape_(shape) {}
  ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  std::uint8_t* bytes() const { return memory_.data(); }

 private:
  friend class ObjectStore;

  std::shared_ptr<SharedArena> arena_;
  std::span<std::uint8_t> memory_;
  const ObjectKey key_;
  const ObjectShape shape_;
  bool ready_ = false;
  bool indexed_ = false;
  TimePoint write_expires_;
  ReadLocks read_locks_;
  std::size_t num_reading_ = 0;
  std::list<Object*>::iterator recency_;  // valid while indexed_
};
using ObjectRef = std::shared_ptr<Object>;

struct ObjectStoreOptions {
  std::size_t size_bytes = std::size_t{1} << 30;
  std::chrono::seconds read_ttl{300};
  std::chrono::seconds write_ttl{600};
  Clock clock = steady_clock();
  // Makes the memory of all objects fit for a device's copies, for as long as the answer lives.
  std::function<std::shared_ptr<void>(std::span<std::uint8_t>)> pin = {};
};

class ObjectStore {
 public:
  explicit ObjectStore(ObjectStoreOptions options);

  // Reserves those of `keys` that are not there: one entry a key, null where the object exists.
  // All the new ones or none: kNoMemory, and then nothing has been evicted for it.
  Result<std::vector<ObjectRef>> reserve(std::span<const ObjectKey> keys, std::size_t object_bytes,
                                         const ObjectShape& shape);
  // Makes reserved objects readable; nulls are skipped.
  void publish(std::span<const ObjectRef> objects);
  // Forgets reserved objects that were not published; nulls are skipped.
  void abandon(std::span<const ObjectRef> objects);

  // Takes `count` read locks for `request` on each object of the leading run of chunks that are
  // readable for every worker. Answers the number of those chunks.
  std::size_t lock_leading_run(std::span<const ChunkHash> chunks, WorkerScopes& workers,
                               const ObjectShape& shape, RequestNumber request,
                               std::uint64_t count);
  // Releases up to `count` of the request's locks on each object of the chunks.
  void release_locks(std::span<const ChunkHash> chunks, WorkerScopes& workers,
                     RequestNumber request, std::uint64_t count);

  // Releases up to `count` of the request's locks on one object.
  void release_locks(const ObjectKey& key, RequestNumber request, std::uint64_t count);

  // If `request` can take a read lock on every object (as many as a key comes times): takes them,
  // marks the objects as being read, and answers them in order. Else takes nothing and answers
  // none.
  std::vector<ObjectRef> begin_read(std::span<const ObjectKey> keys, const ObjectShape& shape,
                                    RequestNumber request);
  void end_read(std::span<const ObjectRef> objects);

  // Marks what is there as recently used.
  void touch(std::span<const ChunkHash> chunks, WorkerScopes& workers);

  // Forgets everything, locked or not. Copies in flight end in peace.
  void clear();

  // Whether the key's object is readable; and the locks on it. For tests and reports.
  bool readable(const ObjectKey& key) const;
  bool exists(const ObjectKey& key) const;  // readable, or being written
  std::uint64_t num_read_locks(const ObjectKey& key) const;
  std::size_t num_objects() const;
  std::size_t free_bytes() const;
  std::size_t size_bytes() const;

 private:
  using Index = std::unordered_map<ObjectKey, ObjectRef, ObjectKeyHasher>;

  Object* find_live(const ObjectKey& key, TimePoint now);  // drops what has expired
  Object* find_readable(const ObjectKey& key, const ObjectShape& shape, TimePoint now);
  std::optional<std::vector<std::span<std::uint8_t>>> allocate(std::size_t count,
                                                               std::size_t object_bytes,
                                                               TimePoint now);
  std::optional<std::span<std::uint8_t>> try_allocate(std::size_t object_bytes);
  bool evictable(const Object& object, TimePoint now) const;
  bool can_make_room(std::size_t bytes, TimePoint now) const;
  void insert(const ObjectRef& object);
  void drop(Object& object);
  void make_recent(Object& object);

  const ObjectStoreOptions options_;
  const std::shared_ptr<SharedArena> arena_;
  mutable std::mutex mutex_;  // taken before the arena's
  Index index_;
  std::list<Object*> recency_;  // least recently used first
};

}  // namespace kvc
