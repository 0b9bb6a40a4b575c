// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// BlendIndex: what the blend lookups can find, for each tenant, (model, world_size, salt), apart: a
// BlendMatcher for V2, and for V1 the chunks that CB_STORE_PRE_COMPUTED stored. A lookup reads it
// and never changes it, so no tenant's lookup changes what another finds.
//
// It says what was stored, not what is still there: whoever looks up asks the object store too.
// Entries whose object is gone are swept out once they may be as many as those that live, so an
// addition costs O(1) on the average, and the index is bounded by twice the objects.
// Any thread may call anything; lookups run side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/blend_matcher.h"
#include "engine/object_key.h"
#include "engine/token_ids.h"

namespace kvc {

using Tenant = KeyScope;
Tenant tenant_of(const Key& key);

class BlendIndex {
 public:
  // `object_exists` is asked of entries that may be stale. It must not call the index.
  BlendIndex(std::size_t chunk_size, std::uint64_t secret,
             std::function<bool(const ObjectKey&)> object_exists);

  struct Document {
    std::span<const std::uint32_t> tokens;  // those of the chunks
    std::span<const ChunkHash> chunks;
    KeyScope scope;          // of the objects that hold them
    bool findable_anywhere;  // by find()
    bool pre_computed;       // by leading_pre_computed()
  };
  void add(const Tenant& tenant, const Document& document);

  // BlendMatcher::find over all segments; cur_st counts from the query's first token.
  std::vector<BlendMatcher::Match> find(const Tenant& tenant, std::span<const TokenSegment> query,
                                        const BlendMatcher::Accept& accept) const;
  // How many of the chunks, from the first, CB_STORE_PRE_COMPUTED stored.
  std::size_t leading_pre_computed(const Tenant& tenant, std::span<const ChunkHash> chunks) const;

  void clear();
  std::size_t size() const;  // entries, of all tenants

 private:
  struct Entry {
    KeyScope scope;
    bool findable_anywhere = false;
    bool pre_computed = false;
  };
  struct TenantPart {
    explicit TenantPart(std::size_t chunk_size, std::uint64_t secret)
        : matcher(chunk_size, secret) {}
    BlendMatcher matcher;
    std::unordered_map<ChunkHash, Entry, ChunkHashHasher> entries;
  };
  struct TenantHasher {
    std::size_t operator()(const Tenant& tenant) const;
  };
  void sweep();

  const std::size_t chunk_size_;
  const std::uint64_t secret_;
  const std::function<bool(const ObjectKey&)> object_exists_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<Tenant, TenantPart, TenantHasher> tenants_;
  std::size_t num_entries_ = 0;
  std::size_t sweep_at_;  // entries
};

}  // namespace kvc
