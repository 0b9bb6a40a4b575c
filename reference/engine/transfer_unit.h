// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What STORE, RETRIEVE and their CB_ kin queue on an instance's stream: wait for the client's
// event, copy, let the objects go, complete the returned event, as one unit.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/object_store.h"
#include "engine/registration.h"
#include "kvc/device/device.h"

namespace kvc {

// Reserved objects: forgotten again unless they were published.
class PendingStore {
 public:
  PendingStore(std::shared_ptr<ObjectStore> store, std::vector<ObjectRef> objects)
      : store_(std::move(store)), objects_(std::move(objects)) {}
  ~PendingStore() { store_->abandon(objects_); }
  PendingStore(const PendingStore&) = delete;
  PendingStore& operator=(const PendingStore&) = delete;

  void publish() { store_->publish(objects_); }
  const std::vector<ObjectRef>& objects() const { return objects_; }

 private:
  std::shared_ptr<ObjectStore> store_;
  std::vector<ObjectRef> objects_;
};

// Objects that are being read, until this is destroyed.
class PendingRead {
 public:
  PendingRead(std::shared_ptr<ObjectStore> store, std::vector<ObjectRef> objects)
      : store_(std::move(store)), objects_(std::move(objects)) {}
  ~PendingRead() { store_->end_read(objects_); }
  PendingRead(const PendingRead&) = delete;
  PendingRead& operator=(const PendingRead&) = delete;

  const std::vector<ObjectRef>& objects() const { return objects_; }

 private:
  std::shared_ptr<ObjectStore> store_;
  std::vector<ObjectRef> objects_;
};

// One unit of work on a stream. `last` is kept until the copies have been made or given up, told
// whether they were made, and let go of before `done` completes.
template <class Pending>
void queue_unit(Registration& registration, std::vector<ChunkCopy> copies,
                const std::shared_ptr<Event>& wait_for, const std::shared_ptr<Event>& done,
                std::shared_ptr<Pending> pending, void (*finish)(Pending&)) {
  const std::lock_guard lock(registration.unit_mutex);
  Stream& stream = *registration.stream;
  stream.begin_unit();
  if (wait_for != nullptr) stream.wait(wait_for);
  if (!copies.empty()) stream.copy(registration.space, std::move(copies));
  stream.host_function([pending = std::move(pending), finish](bool completed) mutable {
    if (completed) finish(*pending);
    pending.reset();
  });
  stream.record(done);
}

}  // namespace kvc
