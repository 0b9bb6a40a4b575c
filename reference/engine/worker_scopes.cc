// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/worker_scopes.h"

#include "kvc/protocol/assert.h"

namespace kvc {

WorkerScopes::WorkerScopes(const Key& key)
    : model_name_(key.model_name),
      world_size_(key.world_size),
      worker_id_(key.worker_id),
      cache_salt_(key.cache_salt) {
  if (!worker_id_) size_ = world_size_.as_u64().value_or(0);
}

const KeyScope& WorkerScopes::at(std::uint64_t index) {
  KVC_ASSERT(index < size_ && index <= scopes_.size());
  if (index == scopes_.size())
    scopes_.push_back(
        key_scope(model_name_, world_size_, worker_id_ ? *worker_id_ : Int(index), cache_salt_));
  return scopes_[index];
}

}  // namespace kvc
