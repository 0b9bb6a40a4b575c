// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Byte builder: msgpack by hand, one function for each way to write a value, valid or not. It knows
// nothing of the codec under reference/: when that one errs, what the referee sends stays right.
// Names are those of the msgpack specification. All functions are pure; bytes are owned by the
// caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "kvc/protocol/bytes.h"

namespace kvc::conformance::msg {

using Pair = std::pair<Bytes, Bytes>;  // key and value of a map, both whole documents

Bytes raw(std::initializer_list<int> bytes);  // any bytes at all: raw({0xc1})
Bytes join(const std::vector<Bytes>& pieces);

Bytes nil();         // c0
Bytes never_used();  // c1: the one byte that begins no document
Bytes boolean(bool value);

// Integers in a width that is asked for, whether or not it is the shortest.
Bytes positive_fixint(std::uint8_t value);  // 00 … 7f
Bytes negative_fixint(std::int8_t value);   // e0 … ff
Bytes u8(std::uint8_t value);
Bytes u16(std::uint16_t value);
Bytes u32(std::uint32_t value);
Bytes u64(std::uint64_t value);
Bytes i8(std::int8_t value);
Bytes i16(std::int16_t value);
Bytes i32(std::int32_t value);
Bytes i64(std::int64_t value);
// The shortest encoding, as an honest client sends it.
Bytes integer(std::int64_t value);
Bytes unsigned_integer(std::uint64_t value);
// `value` in every encoding that can hold it, the shortest first.
std::vector<Bytes> every_width(std::uint64_t value);

Bytes f32(float value);
Bytes f64(double value);

Bytes fixstr(std::string_view text);  // at most 31 bytes
Bytes str8(std::string_view text);
Bytes str16(std::string_view text);
Bytes str32(std::string_view text);
Bytes str(std::string_view text);  // the shortest
std::vector<Bytes> every_str(std::string_view text);

Bytes bin8(ByteView bytes);
Bytes bin16(ByteView bytes);
Bytes bin32(ByteView bytes);
Bytes bin(ByteView bytes);  // the shortest
Bytes bin(std::string_view text);
std::vector<Bytes> every_bin(ByteView bytes);

// A header alone may lie about what follows it.
Bytes fixarray_header(std::uint8_t size);
Bytes array16_header(std::uint16_t size);
Bytes array32_header(std::uint32_t size);
Bytes array(const std::vector<Bytes>& elements);  // the shortest
std::vector<Bytes> every_array(const std::vector<Bytes>& elements);

Bytes fixmap_header(std::uint8_t size);
Bytes map16_header(std::uint16_t size);
Bytes map32_header(std::uint32_t size);
Bytes map(const std::vector<Pair>& pairs);  // the shortest
std::vector<Bytes> every_map(const std::vector<Pair>& pairs);

Bytes fixext(std::int8_t code, ByteView data);  // 1, 2, 4, 8 or 16 bytes
Bytes ext8(std::int8_t code, ByteView data);
Bytes ext16(std::int8_t code, ByteView data);
Bytes ext32(std::int8_t code, ByteView data);
Bytes ext(std::int8_t code, ByteView data);  // the shortest
std::vector<Bytes> every_ext(std::int8_t code, ByteView data);

// An array in an array in an array …, `depth` of them, an empty one innermost.
Bytes nested_arrays(std::size_t depth);
Bytes nested_maps(std::size_t depth);

// The same value with every header and number in it written in another, longer form: one document
// for each width. For documents made by this builder.
std::vector<Bytes> other_encodings(const Bytes& document);

Bytes without_last(Bytes document, std::size_t count);
Bytes followed_by(Bytes document, const Bytes& more);

}  // namespace kvc::conformance::msg
