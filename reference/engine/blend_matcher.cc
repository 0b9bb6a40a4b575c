// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/blend_matcher.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <unordered_set>

#include "kvc/protocol/assert.h"

namespace kvc {
namespace {

// 2^61-1 is prime, so two different windows collide for at most chunk_size of the 2^61 bases. A
// modulus of 2^64 would need no reduction, but collides for every base on Thue-Morse sequences.
constexpr std::uint64_t kPrime = (1ULL << 61U) - 1;

__extension__ using Wide = unsigned __int128;

// Reduces to 0 … 2^61+3: not yet unique, see canonical().
constexpr std::uint64_t fold(Wide value) {
  const auto sum = static_cast<std::uint64_t>(value & kPrime) +
                   static_cast<std::uint64_t>((value >> 61U) & kPrime) +
                   static_cast<std::uint64_t>(value >> 122U);
  return (sum & kPrime) + (sum >> 61U);
}

// The base is below 2^59, so that one addition is enough to reduce a step of the rolling window:
// with value < 2^63 and add < 2^62 the sum stays below 2^63. It is the one chain of dependent
// operations of a query.
constexpr std::uint64_t kBaseMax = (1ULL << 59U) - 1;
constexpr std::uint64_t step(std::uint64_t value, std::uint64_t base, std::uint64_t add) {
  const Wide product = static_cast<Wide>(value) * base;
  return (static_cast<std::uint64_t>(product) & kPrime) +
         static_cast<std::uint64_t>(product >> 61U) + add;
}

constexpr std::uint64_t canonical(std::uint64_t value) {
  value = (value & kPrime) + (value >> 61U);
  return value >= kPrime ? value - kPrime : value;
}

constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  return fold(static_cast<Wide>(a) * b);
}

// Token 0 must count too: "0" and "00" are different chunks' beginnings.
constexpr std::uint64_t weight(std::uint32_t token) { return std::uint64_t{token} + 1; }

// Spreads a fingerprint over table and filter. The fingerprint is random already in its base; this
// only brings all of its bits into the low ones.
constexpr std::uint64_t spread(std::uint64_t fingerprint) {
  return (fingerprint * 0x9e3779b97f4a7c15ULL) ^ (fingerprint >> 29U);
}

// Positions that are hashed before the first is looked up, so that the filter's words are on their
// way from memory meanwhile.
constexpr std::size_t kBatch = 64;

}  // namespace

BlendMatcher::BlendMatcher(std::size_t chunk_size, std::uint64_t secret) : chunk_size_(chunk_size) {
  KVC_ASSERT(chunk_size > 0);
  std::mt19937_64 random(secret);
  base_ = std::uniform_int_distribution<std::uint64_t>(1U << 16U, kBaseMax)(random);
  leave_ = 1;
  for (std::size_t i = 0; i < chunk_size; ++i) leave_ = multiply(leave_, base_);
  leave_ = canonical(leave_);
  rebuild(0);
}

BlendMatcher::Fingerprint BlendMatcher::fingerprint_of(
    std::span<const std::uint32_t> tokens) const {
  std::uint64_t value = 0;
  for (const std::uint32_t token : tokens) value = step(value, base_, weight(token));
  return canonical(value);
}

std::span<const std::uint32_t> BlendMatcher::tokens_of(std::uint32_t content) const {
  return std::span(tokens_).subspan(content * chunk_size_, chunk_size_);
}

bool BlendMatcher::maybe_stored(Fingerprint fingerprint) const {
  const std::uint64_t h = spread(fingerprint);
  const std::uint64_t bits = (1ULL << (h >> 58U)) | (1ULL << ((h >> 52U) & 63U));
  return (filter_[h & (filter_.size() - 1)] & bits) == bits;
}

void BlendMatcher::insert(Fingerprint fingerprint, std::uint32_t content) {
  const std::uint64_t h = spread(fingerprint);
  filter_[h & (filter_.size() - 1)] |= (1ULL << (h >> 58U)) | (1ULL << ((h >> 52U) & 63U));
  std::size_t at = h & (table_.size() - 1);
  while (table_[at].content != kEmpty) at = (at + 1) & (table_.size() - 1);
  table_[at] = {fingerprint, content};
  ++num_table_used_;
}

void BlendMatcher::rebuild(std::size_t num_contents) {
  std::size_t size = 64;  // small: a tenant may have one chunk
  while (size < 4 * num_contents) size *= 2;
  table_.assign(size, {});
  filter_.assign(size / 8, 0);  // 64 bits a word: 8 bits a table entry, 16 or more a content
  num_table_used_ = 0;
  for (std::uint32_t i = 0; i < contents_.size(); ++i)
    if (!contents_[i].placements.empty()) insert(contents_[i].fingerprint, i);
}

const BlendMatcher::Content* BlendMatcher::find_content(Fingerprint fingerprint,
                                                        const std::uint32_t* tokens) const {
  std::size_t at = spread(fingerprint) & (table_.size() - 1);
  for (; table_[at].content != kEmpty; at = (at + 1) & (table_.size() - 1)) {
    const TableEntry& entry = table_[at];
    if (entry.content == kRemoved || entry.fingerprint != fingerprint) continue;
    if (std::equal(tokens, tokens + chunk_size_, tokens_of(entry.content).begin()))
      return &contents_[entry.content];
  }
  return nullptr;
}

std::uint32_t BlendMatcher::take_slot(std::span<const std::uint32_t> tokens,
                                      Fingerprint fingerprint) {
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(contents_.size());
    KVC_ASSERT(slot < kRemoved);
    contents_.emplace_back();
    tokens_.resize(tokens_.size() + chunk_size_);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  std::copy(tokens.begin(), tokens.end(),
            tokens_.begin() + static_cast<std::ptrdiff_t>(slot * chunk_size_));
  contents_[slot].fingerprint = fingerprint;
  return slot;
}

void BlendMatcher::place(std::uint32_t content, const Placement& placement) {
  contents_[content].placements.emplace(next_age_, placement);
  place_of_.emplace(placement.hash, Place{content, next_age_});
  ++next_age_;
}

void BlendMatcher::add(std::span<const std::uint32_t> tokens, const Placement& placement) {
  KVC_ASSERT(tokens.size() == chunk_size_);
  if (place_of_.contains(placement.hash)) return;
  const Fingerprint fingerprint = fingerprint_of(tokens);
  if (const Content* known = find_content(fingerprint, tokens.data())) {
    const auto slot = static_cast<std::uint32_t>(known - contents_.data());
    place(slot, placement);
    return;
  }
  // Half full at most, removed entries counted, so that a probe ends soon.
  if (2 * (num_table_used_ + 1) > table_.size()) rebuild(contents_.size() - free_slots_.size() + 1);
  const std::uint32_t slot = take_slot(tokens, fingerprint);
  place(slot, placement);
  insert(fingerprint, slot);
}

bool BlendMatcher::remove(const ChunkHash& hash) {
  const auto found = place_of_.find(hash);
  if (found == place_of_.end()) return false;
  const auto [slot, age] = found->second;
  place_of_.erase(found);
  Content& content = contents_[slot];
  content.placements.erase(age);
  if (!content.placements.empty()) return true;
  std::size_t at = spread(content.fingerprint) & (table_.size() - 1);
  while (table_[at].content != slot) at = (at + 1) & (table_.size() - 1);
  table_[at].content = kRemoved;
  free_slots_.push_back(slot);
  return true;
}

std::vector<BlendMatcher::Match> BlendMatcher::find(std::span<const std::uint32_t> query,
                                                    const Accept& accept) const {
  std::vector<Match> matches;
  if (query.size() < chunk_size_ || place_of_.empty()) return matches;
  const std::size_t num_windows = query.size() - chunk_size_ + 1;
  std::array<Fingerprint, kBatch> fingerprints{};
  std::uint64_t rolling = fingerprint_of(query.first(chunk_size_));
  // A self-similar query meets the same content again and again: its refusal is remembered.
  std::unordered_set<const Content*> refused;
  std::size_t next_free = 0;  // the first token that no match covers
  // Copies, which the compiler can keep in registers while fingerprints are written.
  const std::uint64_t base = base_;
  const std::uint64_t leave = leave_;
  const std::uint64_t* const filter = filter_.data();
  const std::uint64_t filter_mask = filter_.size() - 1;
  for (std::size_t first = 0; first < num_windows; first += kBatch) {
    const std::size_t count = std::min(kBatch, num_windows - first);
    // The token behind the last window does not exist; any will do, as the result is not used.
    const bool at_end = first + count == num_windows;
    for (std::size_t i = 0; i < count; ++i) {
      fingerprints[i] = canonical(rolling);
      __builtin_prefetch(&filter[spread(fingerprints[i]) & filter_mask]);
      // base * window + the token that enters - base^chunk_size * the token that leaves.
      const std::size_t enters_at = first + i + chunk_size_;
      const std::uint32_t enters = at_end && enters_at == query.size() ? 0 : query[enters_at];
      const std::uint64_t leaves = canonical(multiply(leave, weight(query[first + i])));
      rolling = step(rolling, base, weight(enters) + (kPrime - leaves));
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = first + i;
      if (at < next_free || !maybe_stored(fingerprints[i])) continue;
      const Content* content = find_content(fingerprints[i], query.data() + at);
      if (content == nullptr) continue;
      if (refused.contains(content)) continue;
      const auto usable = std::find_if(content->placements.begin(), content->placements.end(),
                                       [&](const auto& entry) { return accept(entry.second); });
      if (usable == content->placements.end()) {
        refused.insert(content);
        continue;
      }
      matches.push_back({at, usable->second});
      next_free = at + chunk_size_;
    }
  }
  return matches;
}

}  // namespace kvc
