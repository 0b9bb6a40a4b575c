// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Limits: every bound that the codec puts on a peer's bytes, in one place.
#pragma once

#include <cstddef>

namespace kvc::limits {

// cache_salt: at most this many code points (seed: IPCCacheEngineKey._SALT_MAX_LEN).
inline constexpr std::size_t kCacheSaltCodePointsMax = 128;

// A pickle of a wrapper takes about 500 bytes; the device UUID and long handles fit well below.
inline constexpr std::size_t kPickleBytesMax = 64 * 1024;
inline constexpr std::size_t kPickleDepthMax = 16;
inline constexpr std::size_t kPickleMemoMax = 256;
inline constexpr std::size_t kPickleStackMax = 256;

// Tensors of one registration. Models have at most a few hundred layers.
inline constexpr std::size_t kTensorsMax = 4096;
inline constexpr std::size_t kTensorRankMax = 8;

// Unknown fields may nest. The real decoder stops at Python's recursion limit of 1000, of which the
// server's own calls take a dozen (measured: 987 arrays in one another pass, more do not).
inline constexpr std::size_t kNestingMax = 987;

}  // namespace kvc::limits
