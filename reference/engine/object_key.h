// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ObjectKey: the name of a stored object: (chunk hash, model_name, world_size, worker, cache_salt).
// (seed: distributed/api.py, ObjectKey.) Everything but the hash is folded into a 16-byte digest,
// so a key is small and of one size, and no peer's strings are kept. The real key packs world size
// and worker into one number of overlapping fields (kv_rank); here they stay apart, so no two
// workers ever share a name. Plain values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "engine/chunk_hash.h"
#include "kvc/protocol/int.h"
#include "kvc/protocol/values.h"

namespace kvc {

using KeyScope = std::array<std::uint8_t, 16>;

KeyScope key_scope(std::string_view model_name, Int world_size, Int worker_id,
                   std::string_view cache_salt);

// The number into which the real key packs world size and worker, for who has to compare with it.
// Nothing where one of them is beyond 2^32.
std::optional<std::int64_t> kv_rank(Int world_size, Int worker_id);

struct ObjectKey {
  ChunkHash hash;
  KeyScope scope;

  friend bool operator==(const ObjectKey&, const ObjectKey&) = default;
};

struct ObjectKeyHasher {
  std::size_t operator()(const ObjectKey& key) const {
    std::size_t hash = 0;
    std::size_t scope = 0;
    std::memcpy(&hash, key.hash.data(), sizeof hash);
    std::memcpy(&scope, key.scope.data(), sizeof scope);
    return hash ^ scope;
  }
};

}  // namespace kvc
