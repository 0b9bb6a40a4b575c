// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// WorkerScopes: which workers' objects a key means: one (worker_id set), or all of world_size
// (worker_id None), each with its scope. Scopes are made when asked for and then kept, because
// nothing bounds the world_size that a peer may claim. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/object_key.h"

namespace kvc {

class WorkerScopes {
 public:
  explicit WorkerScopes(const Key& key);

  // 0 for all workers of a world without any.
  std::uint64_t size() const { return size_; }
  const KeyScope& at(std::uint64_t index);  // REQUIRES: index < size(), and all before it asked for

 private:
  std::string model_name_;
  Int world_size_;
  std::optional<Int> worker_id_;
  std::string cache_salt_;
  std::uint64_t size_ = 1;
  std::vector<KeyScope> scopes_;
};

}  // namespace kvc
