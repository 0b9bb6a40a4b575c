// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ChunkHash: the name of a chunk of tokens and of all tokens before it.
//   h[i] = BLAKE3(h[i-1] || the chunk's tokens as big-endian u32), 32 bytes
//   h[-1] = BLAKE3(eight zero bytes || one zero u32)
// (seed: token_hasher.py, algorithm blake3; vectors in golden/0.4.5/hashes.json.) Pure functions;
// any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/int.h"
#include "kvc/protocol/int_array.h"
#include "kvc/protocol/result.h"

namespace kvc {

using ChunkHash = std::array<std::uint8_t, 32>;

// For hash tables: a chunk hash is random already.
struct ChunkHashHasher {
  std::size_t operator()(const ChunkHash& hash) const {
    std::size_t out = 0;
    std::memcpy(&out, hash.data(), sizeof out);
    return out;
  }
};

// h[-1].
const ChunkHash& empty_prefix_hash();

// The hash of the chunk `tokens` after a prefix with the hash `prefix` (32 bytes; the hasher itself
// takes any number).
ChunkHash hash_chunk(ByteView prefix, std::span<const std::uint32_t> tokens);

// The hashes of the first `num_chunks` chunks. A token id in them that does not fit u32 is
// kInvalidArgument, as the real server cannot hash it; tokens behind them are not looked at.
// REQUIRES: num_chunks * chunk_size <= tokens.size().
Result<std::vector<ChunkHash>> hash_chunks(const IntArray& tokens, std::size_t chunk_size,
                                           std::size_t num_chunks);

// The same of tokens that are known to fit: the hashes of all their whole chunks.
std::vector<ChunkHash> hash_chunks(std::span<const std::uint32_t> tokens, std::size_t chunk_size);

// The chunks that lie in the tokens [start, end) whole, [first, end) in chunks; first == end for
// none. Any range will do: the real server takes one that is not aligned in the same way.
struct ChunkRange {
  std::size_t first = 0;
  std::size_t end = 0;
};
ChunkRange whole_chunks(Int start, Int end, std::size_t num_tokens, std::size_t chunk_size);

// 16 bytes that stand for `bytes`: the start of their BLAKE3.
std::array<std::uint8_t, 16> short_digest(ByteView bytes);

}  // namespace kvc
