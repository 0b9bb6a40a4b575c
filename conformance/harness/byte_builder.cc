// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/byte_builder.h"

#include <bit>
#include <limits>

#include "kvc/protocol/assert.h"

namespace kvc::conformance::msg {
namespace {

// `tag`, then `value` in `width` bytes, the most significant first.
Bytes tagged(int tag, std::uint64_t value, std::size_t width) {
  Bytes out{static_cast<std::uint8_t>(tag)};
  for (std::size_t i = width; i > 0; --i)
    out.push_back(static_cast<std::uint8_t>(value >> (8 * (i - 1))));
  return out;
}

void append(Bytes& out, ByteView more) { out.insert(out.end(), more.begin(), more.end()); }

Bytes sized(Bytes header, ByteView body) {
  append(header, body);
  return header;
}

Bytes extension(Bytes header, std::int8_t code, ByteView data) {
  header.push_back(static_cast<std::uint8_t>(code));
  return sized(std::move(header), data);
}

Bytes flat(const std::vector<Pair>& pairs) {
  Bytes out;
  for (const Pair& pair : pairs) {
    append(out, pair.first);
    append(out, pair.second);
  }
  return out;
}

// How long other_encodings() makes lengths (8, 16 or 32 bits) and numbers (the same, or 64).
struct Form {
  std::size_t length_bytes;
  std::size_t number_bytes;
  bool is_signed;
};

std::uint64_t big_endian(ByteView bytes) {
  std::uint64_t value = 0;
  for (std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

// A header of the family that begins at `tag8` (str: d9, bin: c4, …; arrays and maps have none of
// 8 bits, so theirs begins one below), with at least the form's width.
Bytes header(int tag8, bool has_8_bits, std::uint64_t size, const Form& form) {
  std::size_t width = form.length_bytes;
  if (width == 1 && (!has_8_bits || size > 0xff)) width = 2;
  if (width == 2 && size > 0xffff) width = 4;
  const int step = width == 1 ? 0 : width == 2 ? 1 : 2;
  return tagged(tag8 + step, size, width);
}

Bytes number(std::uint64_t value, const Form& form) {
  std::vector<Bytes> widths = every_width(value);
  for (const Bytes& width : widths) {
    const bool is_signed = width.front() >= 0xd0 && width.front() <= 0xd3;
    if (width.size() == form.number_bytes + 1 && is_signed == form.is_signed) return width;
  }
  return widths.back();
}

void reencode(ByteView& in, Bytes& out, const Form& form) {
  const int tag = in.front();
  in = in.subspan(1);
  const auto read = [&in](std::size_t width) {
    const std::uint64_t value = big_endian(in.first(width));
    in = in.subspan(width);
    return value;
  };
  const auto body = [&](Bytes head, std::uint64_t size) {
    append(out, head);
    append(out, in.first(size));
    in = in.subspan(size);
  };
  const auto values = [&](Bytes head, std::uint64_t count) {
    append(out, head);
    for (std::uint64_t i = 0; i < count; ++i) reencode(in, out, form);
  };
  const auto str_of = [&](std::uint64_t n) { body(header(0xd9, true, n, form), n); };
  const auto bin_of = [&](std::uint64_t n) { body(header(0xc4, true, n, form), n); };
  const auto array_of = [&](std::uint64_t n) { values(header(0xdb, false, n, form), n); };
  const auto map_of = [&](std::uint64_t n) { values(header(0xdd, false, n, form), 2 * n); };
  if (tag < 0x80) return append(out, number(static_cast<std::uint64_t>(tag), form));
  if (tag < 0x90) return map_of(tag & 0x0f);
  if (tag < 0xa0) return array_of(tag & 0x0f);
  if (tag < 0xc0) return str_of(tag & 0x1f);
  if (tag >= 0xc4 && tag <= 0xc6) return bin_of(read(std::size_t{1} << (tag - 0xc4)));
  if (tag >= 0xc7 && tag <= 0xc9) {
    const std::uint64_t size = read(std::size_t{1} << (tag - 0xc7));
    return body(header(0xc7, true, size, form), size + 1);  // the code is one byte more
  }
  if (tag >= 0xcc && tag <= 0xcf)
    return append(out, number(read(std::size_t{1} << (tag - 0xcc)), form));
  if (tag >= 0xd9 && tag <= 0xdb) return str_of(read(std::size_t{1} << (tag - 0xd9)));
  if (tag == 0xdc || tag == 0xdd) return array_of(read(tag == 0xdc ? 2 : 4));
  if (tag == 0xde || tag == 0xdf) return map_of(read(tag == 0xde ? 2 : 4));
  // nil, booleans, floats, negative numbers: kept as they are.
  out.push_back(static_cast<std::uint8_t>(tag));
  const std::size_t rest = tag == 0xca || tag == 0xd2   ? 4
                           : tag == 0xcb || tag == 0xd3 ? 8
                           : tag == 0xd0                ? 1
                           : tag == 0xd1                ? 2
                                                        : 0;
  append(out, in.first(rest));
  in = in.subspan(rest);
}

template <class T>
constexpr bool fits(std::uint64_t value) {
  return value <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
}

}  // namespace

Bytes raw(std::initializer_list<int> bytes) {
  Bytes out;
  for (int byte : bytes) out.push_back(static_cast<std::uint8_t>(byte));
  return out;
}

Bytes join(const std::vector<Bytes>& pieces) {
  Bytes out;
  for (const Bytes& piece : pieces) append(out, piece);
  return out;
}

Bytes nil() { return raw({0xc0}); }
Bytes never_used() { return raw({0xc1}); }
Bytes boolean(bool value) { return raw({value ? 0xc3 : 0xc2}); }

Bytes positive_fixint(std::uint8_t value) {
  KVC_ASSERT(value < 0x80);
  return {value};
}
Bytes negative_fixint(std::int8_t value) {
  KVC_ASSERT(value < 0 && value >= -32);
  return {static_cast<std::uint8_t>(value)};
}
Bytes u8(std::uint8_t value) { return tagged(0xcc, value, 1); }
Bytes u16(std::uint16_t value) { return tagged(0xcd, value, 2); }
Bytes u32(std::uint32_t value) { return tagged(0xce, value, 4); }
Bytes u64(std::uint64_t value) { return tagged(0xcf, value, 8); }
Bytes i8(std::int8_t value) { return tagged(0xd0, static_cast<std::uint64_t>(value), 1); }
Bytes i16(std::int16_t value) { return tagged(0xd1, static_cast<std::uint64_t>(value), 2); }
Bytes i32(std::int32_t value) { return tagged(0xd2, static_cast<std::uint64_t>(value), 4); }
Bytes i64(std::int64_t value) { return tagged(0xd3, static_cast<std::uint64_t>(value), 8); }

Bytes integer(std::int64_t value) {
  if (value >= 0) return unsigned_integer(static_cast<std::uint64_t>(value));
  if (value >= -32) return negative_fixint(static_cast<std::int8_t>(value));
  if (value >= std::numeric_limits<std::int8_t>::min()) return i8(static_cast<std::int8_t>(value));
  if (value >= std::numeric_limits<std::int16_t>::min())
    return i16(static_cast<std::int16_t>(value));
  if (value >= std::numeric_limits<std::int32_t>::min())
    return i32(static_cast<std::int32_t>(value));
  return i64(value);
}

Bytes unsigned_integer(std::uint64_t value) { return every_width(value).front(); }

std::vector<Bytes> every_width(std::uint64_t value) {
  std::vector<Bytes> out;
  if (value < 0x80) out.push_back(positive_fixint(static_cast<std::uint8_t>(value)));
  if (fits<std::uint8_t>(value)) out.push_back(u8(static_cast<std::uint8_t>(value)));
  if (fits<std::uint16_t>(value)) out.push_back(u16(static_cast<std::uint16_t>(value)));
  if (fits<std::uint32_t>(value)) out.push_back(u32(static_cast<std::uint32_t>(value)));
  out.push_back(u64(value));
  if (fits<std::int8_t>(value)) out.push_back(i8(static_cast<std::int8_t>(value)));
  if (fits<std::int16_t>(value)) out.push_back(i16(static_cast<std::int16_t>(value)));
  if (fits<std::int32_t>(value)) out.push_back(i32(static_cast<std::int32_t>(value)));
  if (fits<std::int64_t>(value)) out.push_back(i64(static_cast<std::int64_t>(value)));
  return out;
}

Bytes f32(float value) { return tagged(0xca, std::bit_cast<std::uint32_t>(value), 4); }
Bytes f64(double value) { return tagged(0xcb, std::bit_cast<std::uint64_t>(value), 8); }

Bytes fixstr(std::string_view text) {
  KVC_ASSERT(text.size() < 32);
  return sized(raw({0xa0 | static_cast<int>(text.size())}), as_bytes(text));
}
Bytes str8(std::string_view text) {
  KVC_ASSERT(fits<std::uint8_t>(text.size()));
  return sized(tagged(0xd9, text.size(), 1), as_bytes(text));
}
Bytes str16(std::string_view text) {
  KVC_ASSERT(fits<std::uint16_t>(text.size()));
  return sized(tagged(0xda, text.size(), 2), as_bytes(text));
}
Bytes str32(std::string_view text) { return sized(tagged(0xdb, text.size(), 4), as_bytes(text)); }
Bytes str(std::string_view text) { return every_str(text).front(); }
std::vector<Bytes> every_str(std::string_view text) {
  std::vector<Bytes> out;
  if (text.size() < 32) out.push_back(fixstr(text));
  if (fits<std::uint8_t>(text.size())) out.push_back(str8(text));
  if (fits<std::uint16_t>(text.size())) out.push_back(str16(text));
  out.push_back(str32(text));
  return out;
}

Bytes bin8(ByteView bytes) {
  KVC_ASSERT(fits<std::uint8_t>(bytes.size()));
  return sized(tagged(0xc4, bytes.size(), 1), bytes);
}
Bytes bin16(ByteView bytes) {
  KVC_ASSERT(fits<std::uint16_t>(bytes.size()));
  return sized(tagged(0xc5, bytes.size(), 2), bytes);
}
Bytes bin32(ByteView bytes) { return sized(tagged(0xc6, bytes.size(), 4), bytes); }
Bytes bin(ByteView bytes) { return every_bin(bytes).front(); }
Bytes bin(std::string_view text) { return bin(as_bytes(text)); }
std::vector<Bytes> every_bin(ByteView bytes) {
  std::vector<Bytes> out;
  if (fits<std::uint8_t>(bytes.size())) out.push_back(bin8(bytes));
  if (fits<std::uint16_t>(bytes.size())) out.push_back(bin16(bytes));
  out.push_back(bin32(bytes));
  return out;
}

Bytes fixarray_header(std::uint8_t size) {
  KVC_ASSERT(size < 16);
  return raw({0x90 | size});
}
Bytes array16_header(std::uint16_t size) { return tagged(0xdc, size, 2); }
Bytes array32_header(std::uint32_t size) { return tagged(0xdd, size, 4); }
Bytes array(const std::vector<Bytes>& elements) { return every_array(elements).front(); }
std::vector<Bytes> every_array(const std::vector<Bytes>& elements) {
  std::vector<Bytes> out;
  const Bytes body = join(elements);
  const std::size_t size = elements.size();
  if (size < 16) out.push_back(sized(fixarray_header(static_cast<std::uint8_t>(size)), body));
  if (fits<std::uint16_t>(size))
    out.push_back(sized(array16_header(static_cast<std::uint16_t>(size)), body));
  out.push_back(sized(array32_header(static_cast<std::uint32_t>(size)), body));
  return out;
}

Bytes fixmap_header(std::uint8_t size) {
  KVC_ASSERT(size < 16);
  return raw({0x80 | size});
}
Bytes map16_header(std::uint16_t size) { return tagged(0xde, size, 2); }
Bytes map32_header(std::uint32_t size) { return tagged(0xdf, size, 4); }
Bytes map(const std::vector<Pair>& pairs) { return every_map(pairs).front(); }
std::vector<Bytes> every_map(const std::vector<Pair>& pairs) {
  std::vector<Bytes> out;
  const Bytes body = flat(pairs);
  const std::size_t size = pairs.size();
  if (size < 16) out.push_back(sized(fixmap_header(static_cast<std::uint8_t>(size)), body));
  if (fits<std::uint16_t>(size))
    out.push_back(sized(map16_header(static_cast<std::uint16_t>(size)), body));
  out.push_back(sized(map32_header(static_cast<std::uint32_t>(size)), body));
  return out;
}

Bytes fixext(std::int8_t code, ByteView data) {
  const bool has_form = std::has_single_bit(data.size()) && data.size() <= 16;
  KVC_ASSERT(has_form);
  return extension(raw({0xd4 + std::countr_zero(data.size())}), code, data);
}
Bytes ext8(std::int8_t code, ByteView data) {
  KVC_ASSERT(fits<std::uint8_t>(data.size()));
  return extension(tagged(0xc7, data.size(), 1), code, data);
}
Bytes ext16(std::int8_t code, ByteView data) {
  KVC_ASSERT(fits<std::uint16_t>(data.size()));
  return extension(tagged(0xc8, data.size(), 2), code, data);
}
Bytes ext32(std::int8_t code, ByteView data) {
  return extension(tagged(0xc9, data.size(), 4), code, data);
}
Bytes ext(std::int8_t code, ByteView data) { return every_ext(code, data).front(); }
std::vector<Bytes> every_ext(std::int8_t code, ByteView data) {
  std::vector<Bytes> out;
  if (std::has_single_bit(data.size()) && data.size() <= 16) out.push_back(fixext(code, data));
  if (fits<std::uint8_t>(data.size())) out.push_back(ext8(code, data));
  if (fits<std::uint16_t>(data.size())) out.push_back(ext16(code, data));
  out.push_back(ext32(code, data));
  return out;
}

Bytes nested_arrays(std::size_t depth) {
  Bytes out(depth, 0x91);
  out.push_back(0x90);
  return out;
}

Bytes nested_maps(std::size_t depth) {
  Bytes out;
  for (std::size_t i = 0; i < depth; ++i) append(out, raw({0x81, 0xa1, 'k'}));
  out.push_back(0x80);
  return out;
}

std::vector<Bytes> other_encodings(const Bytes& document) {
  std::vector<Bytes> out;
  for (const Form form : {Form{1, 1, false}, Form{2, 2, false}, Form{2, 4, true}, Form{4, 8, false},
                          Form{4, 8, true}}) {
    ByteView in(document);
    Bytes other;
    reencode(in, other, form);
    out.push_back(std::move(other));
  }
  return out;
}

Bytes without_last(Bytes document, std::size_t count) {
  KVC_ASSERT(count <= document.size());
  document.resize(document.size() - count);
  return document;
}

Bytes followed_by(Bytes document, const Bytes& more) {
  append(document, more);
  return document;
}

}  // namespace kvc::conformance::msg
