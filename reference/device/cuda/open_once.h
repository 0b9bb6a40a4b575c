// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// OpenOnce: what is named by a key is opened at most once at a time, shared by all who ask for it,
// and closed with the last of them. Opening and the value's end never run at the same time for one
// key; an opening may come before the end that it overtook, and before what the end leaves to a
// Freer, so what is opened counts itself, as CUDA's mappings do. Any thread may call anything;
// `open` and the value's end run under the key's lock.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "kvc/protocol/result.h"

namespace kvc::cuda {

template <class Key, class Value>
class OpenOnce : public std::enable_shared_from_this<OpenOnce<Key, Value>> {
 public:
  // Answers the open value of `key`, or what `open()` says: a Result<std::unique_ptr<Value>>.
  template <class Open>
  Result<std::shared_ptr<Value>> get(const Key& key, Open open) {
    const std::shared_ptr<Slot> slot = slot_of(key);
    const std::lock_guard lock(slot->mutex);
    if (std::shared_ptr<Value> there = slot->value.lock()) return there;
    Result<std::unique_ptr<Value>> opened = open();
    if (!opened) {
      forget(key);  // a peer's garbage leaves nothing
      return opened.error();
    }
    // The slot's lock makes a later get() wait until the value's end is through.
    std::shared_ptr<Value> value(opened->release(),
                                 [slot, self = this->shared_from_this(), key](Value* last) {
                                   {
                                     const std::lock_guard closing(slot->mutex);
                                     delete last;
                                     // The slot would keep the pointer's block, and with it this
                                     // function and the slot. A value that came meanwhile stays.
                                     if (slot->value.expired()) slot->value.reset();
                                   }
                                   self->forget(key);
                                 });
    slot->value = value;
    return value;
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return slots_.size();
  }

 private:
  struct Slot {
    std::mutex mutex;
    std::weak_ptr<Value> value;
  };

  std::shared_ptr<Slot> slot_of(const Key& key) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Slot>& slot = slots_[key];
    if (slot == nullptr) slot = std::make_shared<Slot>();
    return slot;
  }

  // Drops the slot of a key that nobody has open, nor is opening.
  void forget(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = slots_.find(key);
    // Whoever calls this holds one reference, the map another.
    if (found != slots_.end() && found->second.use_count() <= 2) slots_.erase(found);
  }

  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<Slot>> slots_;
};

}  // namespace kvc::cuda
