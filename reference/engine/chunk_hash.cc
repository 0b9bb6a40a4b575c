// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/chunk_hash.h"

#include <blake3.h>

#include <algorithm>

#include "engine/token_ids.h"
#include "kvc/protocol/assert.h"

namespace kvc {
namespace {

std::array<std::uint8_t, 4> big_endian(std::uint32_t value) {
  return {static_cast<std::uint8_t>(value >> 24), static_cast<std::uint8_t>(value >> 16),
          static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)};
}

ChunkHash finish(const blake3_hasher& hasher) {
  ChunkHash out;
  blake3_hasher_finalize(&hasher, out.data(), out.size());
  return out;
}

}  // namespace

const ChunkHash& empty_prefix_hash() {
  static const ChunkHash hash = [] {
    const std::array<std::uint8_t, 12> zeros{};
    blake3_hasher hasher;
    blake3_hasher_init(&hasher);
    blake3_hasher_update(&hasher, zeros.data(), zeros.size());
    return finish(hasher);
  }();
  return hash;
}

ChunkHash hash_chunk(ByteView prefix, std::span<const std::uint32_t> tokens) {
  blake3_hasher hasher;
  blake3_hasher_init(&hasher);
  blake3_hasher_update(&hasher, prefix.data(), prefix.size());
  std::array<std::uint8_t, 4096> buffer;
  while (!tokens.empty()) {
    const std::size_t count = std::min(tokens.size(), buffer.size() / 4);
    for (std::size_t i = 0; i < count; ++i) {
      const std::array<std::uint8_t, 4> bytes = big_endian(tokens[i]);
      std::copy(bytes.begin(), bytes.end(), buffer.begin() + static_cast<std::ptrdiff_t>(i * 4));
    }
    blake3_hasher_update(&hasher, buffer.data(), count * 4);
    tokens = tokens.subspan(count);
  }
  return finish(hasher);
}

Result<std::vector<ChunkHash>> hash_chunks(const IntArray& tokens, std::size_t chunk_size,
                                           std::size_t num_chunks) {
  KVC_ASSERT(chunk_size > 0 && num_chunks <= tokens.size() / chunk_size);
  std::vector<ChunkHash> hashes;
  hashes.reserve(num_chunks);
  std::vector<std::uint32_t> chunk(chunk_size);
  IntArray::Iterator at = tokens.begin();
  const ChunkHash* prefix = &empty_prefix_hash();
  for (std::size_t i = 0; i < num_chunks; ++i) {
    if (Result<void> read = read_tokens(tokens, at, i * chunk_size, chunk); !read)
      return read.error();
    hashes.push_back(hash_chunk(*prefix, chunk));
    prefix = &hashes.back();
  }
  return hashes;
}

std::vector<ChunkHash> hash_chunks(std::span<const std::uint32_t> tokens, std::size_t chunk_size) {
  KVC_ASSERT(chunk_size > 0);
  std::vector<ChunkHash> hashes;
  hashes.reserve(tokens.size() / chunk_size);
  const ChunkHash* prefix = &empty_prefix_hash();
  for (; tokens.size() >= chunk_size; tokens = tokens.subspan(chunk_size)) {
    hashes.push_back(hash_chunk(*prefix, tokens.first(chunk_size)));
    prefix = &hashes.back();
  }
  return hashes;
}

ChunkRange whole_chunks(Int start, Int end, std::size_t num_tokens, std::size_t chunk_size) {
  const std::uint64_t from = start.as_u64().value_or(0);  // negative: from the beginning
  const std::uint64_t to = std::min<std::uint64_t>(end.as_u64().value_or(0), num_tokens);
  const std::uint64_t first = from / chunk_size + (from % chunk_size == 0 ? 0 : 1);
  const std::uint64_t behind = to / chunk_size;
  if (first >= behind) return {};
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(behind)};
}

std::array<std::uint8_t, 16> short_digest(ByteView bytes) {
  blake3_hasher hasher;
  blake3_hasher_init(&hasher);
  blake3_hasher_update(&hasher, bytes.data(), bytes.size());
  std::array<std::uint8_t, 16> out;
  blake3_hasher_finalize(&hasher, out.data(), out.size());
  return out;
}

}  // namespace kvc
