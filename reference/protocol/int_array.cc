// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/int_array.h"

#include <algorithm>
#include <array>
#include <utility>

#include "msgpack_int.h"
#include "writer.h"

namespace kvc {

Int IntArray::Iterator::operator*() const { return load_int(at_); }

IntArray::Iterator& IntArray::Iterator::operator++() {
  at_ += kIntBytes[*at_];
  return *this;
}

namespace {

// How the eight bytes from a lead on hold a number: shifted right, then masked. A mask of 0: look
// closer (nine bytes, or a signed encoding).
struct Place {
  std::uint8_t shift = 0;
  std::uint32_t mask = 0;
};
constexpr std::array<Place, 256> kPlaces = [] {
  std::array<Place, 256> places{};
  for (std::size_t lead = 0; lead < 0x80; ++lead) places[lead] = {56, 0x7f};
  places[0xcc] = {48, 0xff};
  places[0xcd] = {40, 0xffff};
  places[0xce] = {24, 0xffffffff};
  return places;
}();

}  // namespace

void IntArray::Iterator::read_u32(std::uint32_t* out, std::size_t count) {
  const std::uint8_t* at = at_;
  std::size_t i = 0;
  // Widths change from token to token, so a branch on them would be guessed wrong all the time.
  // Eight bytes may be loaded while eight elements are left.
  for (; i + 8 <= count; ++i) {
    const Place place = kPlaces[*at];
    out[i] = place.mask != 0
                 ? static_cast<std::uint32_t>(load_big_endian<std::uint64_t>(at) >> place.shift) &
                       place.mask
                 : static_cast<std::uint32_t>(load_int(at).bits());
    at += kIntBytes[*at];
  }
  for (; i < count; ++i) {
    out[i] = static_cast<std::uint32_t>(load_int(at).bits());
    at += kIntBytes[*at];
  }
  at_ = at;
}

namespace {

template <class T>
IntArray packed(std::span<const T> values, IntArray (*seal)(Bytes, std::size_t, bool)) {
  Bytes encoded;
  encoded.reserve(values.size() * 3);
  Writer writer(encoded);
  bool all_fit_u32 = true;
  for (const T value : values) {
    writer.write_int(Int(value));
    all_fit_u32 = all_fit_u32 && Int(value).as_u32().has_value();
  }
  return seal(std::move(encoded), values.size(), all_fit_u32);
}

}  // namespace

IntArray IntArray::owning(Bytes encoded, std::size_t size, bool all_fit_u32, bool minimal) {
  IntArray array;
  array.owner_ = std::make_shared<const Bytes>(std::move(encoded));
  array.encoded_ = *array.owner_;
  array.size_ = size;
  array.all_fit_u32_ = all_fit_u32;
  array.minimal_ = minimal;
  return array;
}

IntArray IntArray::of(std::span<const Int> values) {
  return packed(values, [](Bytes encoded, std::size_t size, bool all_fit_u32) {
    return owning(std::move(encoded), size, all_fit_u32, true);
  });
}

IntArray IntArray::of_u32(std::span<const std::uint32_t> values) {
  return packed(values, [](Bytes encoded, std::size_t size, bool all_fit_u32) {
    return owning(std::move(encoded), size, all_fit_u32, true);
  });
}

IntArray IntArray::seeing(ByteView encoded, std::size_t size, bool all_fit_u32, bool minimal) {
  IntArray array;
  array.encoded_ = encoded;
  array.size_ = size;
  array.all_fit_u32_ = all_fit_u32;
  array.minimal_ = minimal;
  return array;
}

IntArray IntArray::own() const {
  if (owner_ != nullptr) return *this;
  return owning(to_bytes(encoded_), size_, all_fit_u32_, minimal_);
}

bool operator==(const IntArray& a, const IntArray& b) {
  if (a.size_ != b.size_) return false;
  if (a.minimal_ && b.minimal_) return std::ranges::equal(a.encoded_, b.encoded_);
  return std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace kvc
