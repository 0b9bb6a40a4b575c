// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/blend_index.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>

#include "kvc/protocol/assert.h"

namespace kvc {
namespace {

constexpr std::size_t kSweepAtLeast = 1024;

}  // namespace

// The scope of a worker that cannot be: a tenant is all workers.
Tenant tenant_of(const Key& key) {
  return key_scope(key.model_name, key.world_size, Int(-1), key.cache_salt);
}

std::size_t BlendIndex::TenantHasher::operator()(const Tenant& tenant) const {
  std::size_t hash = 0;
  std::memcpy(&hash, tenant.data(), sizeof hash);
  return hash;
}

BlendIndex::BlendIndex(std::size_t chunk_size, std::uint64_t secret,
                       std::function<bool(const ObjectKey&)> object_exists)
    : chunk_size_(chunk_size),
      secret_(secret),
      object_exists_(std::move(object_exists)),
      sweep_at_(kSweepAtLeast) {}

void BlendIndex::add(const Tenant& tenant, const Document& document) {
  KVC_ASSERT(document.tokens.size() == document.chunks.size() * chunk_size_);
  if (document.chunks.empty()) return;
  const std::unique_lock lock(mutex_);
  if (num_entries_ + document.chunks.size() > sweep_at_) sweep();
  TenantPart& part = tenants_.try_emplace(tenant, chunk_size_, secret_).first->second;
  for (std::size_t i = 0; i < document.chunks.size(); ++i) {
    const auto [entry, is_new] =
        part.entries.try_emplace(document.chunks[i], Entry{document.scope, false, false});
    if (is_new) ++num_entries_;
    entry->second.pre_computed |= document.pre_computed;
    if (!document.findable_anywhere || entry->second.findable_anywhere) continue;
    // Found by its tokens, it lives as long as the object of the worker who said so.
    entry->second.findable_anywhere = true;
    entry->second.scope = document.scope;
    part.matcher.add(document.tokens.subspan(i * chunk_size_, chunk_size_),
                     {document.chunks[i], i * chunk_size_});
  }
}

std::vector<BlendMatcher::Match> BlendIndex::find(const Tenant& tenant,
                                                  std::span<const TokenSegment> query,
                                                  const BlendMatcher::Accept& accept) const {
  std::vector<BlendMatcher::Match> matches;
  const std::shared_lock lock(mutex_);
  const auto part = tenants_.find(tenant);
  if (part == tenants_.end()) return matches;
  for (const TokenSegment& segment : query) {
    for (BlendMatcher::Match& match : part->second.matcher.find(segment.tokens, accept)) {
      match.cur_st += segment.first;
      matches.push_back(match);
    }
  }
  return matches;
}

std::size_t BlendIndex::leading_pre_computed(const Tenant& tenant,
                                             std::span<const ChunkHash> chunks) const {
  const std::shared_lock lock(mutex_);
  const auto part = tenants_.find(tenant);
  if (part == tenants_.end()) return 0;
  const auto& entries = part->second.entries;
  const auto missing = std::find_if(chunks.begin(), chunks.end(), [&](const ChunkHash& chunk) {
    const auto entry = entries.find(chunk);
    return entry == entries.end() || !entry->second.pre_computed;
  });
  return static_cast<std::size_t>(missing - chunks.begin());
}

void BlendIndex::clear() {
  std::unordered_map<Tenant, TenantPart, TenantHasher> gone;  // freed when the lock is let go
  const std::unique_lock lock(mutex_);
  gone.swap(tenants_);
  num_entries_ = 0;
  sweep_at_ = kSweepAtLeast;
}

std::size_t BlendIndex::size() const {
  const std::shared_lock lock(mutex_);
  return num_entries_;
}

void BlendIndex::sweep() {
  num_entries_ = 0;
  for (auto tenant = tenants_.begin(); tenant != tenants_.end();) {
    TenantPart& part = tenant->second;
    std::erase_if(part.entries, [&](const auto& entry) {
      if (object_exists_({entry.first, entry.second.scope})) return false;
      if (entry.second.findable_anywhere) part.matcher.remove(entry.first);
      return true;
    });
    num_entries_ += part.entries.size();
    tenant = part.entries.empty() ? tenants_.erase(tenant) : std::next(tenant);
  }
  sweep_at_ = std::max(kSweepAtLeast, 2 * num_entries_);
}

}  // namespace kvc
