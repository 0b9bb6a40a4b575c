// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/fuzz/bad_payloads.h"

#include <algorithm>

#include "conformance/fuzz/map_fields.h"
#include "conformance/harness/byte_builder.h"
#include "conformance/harness/pickle_builder.h"
#include "kvc/protocol/codec.h"

namespace kvc::conformance {
namespace {

// Far deeper than the limit, and less deep than what takes long to make.
constexpr std::size_t kDeepMin = 2000;
constexpr std::size_t kDeepMax = 200'000;
constexpr std::size_t kHugeBytesMax = std::size_t{2} << 20;
constexpr std::size_t kSaltCodePointsMax = 128;

Bytes any_of(const std::vector<Bytes>& choices, Random& random) {
  return choices[below(random, choices.size())];
}

Bytes same(ByteView payload) { return to_bytes(payload); }

bool is_array(WireType type) {
  return type == WireType::kIntList || type == WireType::kKVCache || type == WireType::kRanges ||
         type == WireType::kBlockAllocationRecords || type == WireType::kCBMatchResults;
}

bool is_map(WireType type) { return type == WireType::kKey || type == WireType::kLayoutHints; }

const Bytes& bad_utf8(Random& random) {
  static const std::vector<Bytes> kTexts = {
      msg::raw({0xa1, 0xff}), msg::raw({0xa2, 0xc3, 0x28}), msg::raw({0xa3, 0xed, 0xa0, 0x80}),
      msg::raw({0xa1, 0x80}), msg::raw({0xa2, 0xc0, 0x80}), msg::raw({0xa3, 0x61, 0x62, 0xe6})};
  return kTexts[below(random, kTexts.size())];
}

// The payload with one field's value replaced; the field is chosen among those that `fits` takes.
template <class Fits>
Bytes with_field(WireType type, ByteView payload, Random& random, const Bytes& value, Fits fits) {
  std::optional<MapFields> fields = map_fields(type, payload);
  std::vector<msg::Pair*> choices;
  if (fields)
    for (FieldList& list : fields->maps)
      for (msg::Pair& pair : list)
        if (fits(decode<std::string>(pair.first).value())) choices.push_back(&pair);
  if (choices.empty()) return same(payload);
  choices[below(random, choices.size())]->second = value;
  return compose(*fields);
}

bool is_text_field(const std::string& name) {
  return name == "model_name" || name == "request_id" || name == "cache_salt" || name == "req_id" ||
         name == "kv_layout";
}

// What stands for no field of the protocol at all.
Bytes no_fields_value(Random& random) {
  return any_of({msg::f64(1.0), msg::boolean(false), msg::map({}), msg::ext(3, as_bytes("q"))},
                random);
}

}  // namespace

Bytes payload_of_another_kind(WireType type, ByteView payload, Random& random) {
  std::vector<Bytes> bad = {msg::nil(), msg::boolean(true), msg::f64(1.0), msg::f32(1.0F),
                            msg::ext(1, as_bytes("abc"))};
  if (type != WireType::kInt) bad.push_back(msg::integer(3));
  if (type != WireType::kBytes) bad.push_back(msg::bin("bytes"));
  if (type != WireType::kStr) bad.push_back(msg::str("no such text"));
  if (!is_array(type)) bad.push_back(msg::array({}));
  if (!is_map(type)) bad.push_back(msg::map({}));
  (void)payload;
  return any_of(bad, random);
}

Bytes payload_with_a_bad_part(WireType type, ByteView payload, Random& random) {
  switch (type) {
    case WireType::kIntList:
      return any_of({msg::array({msg::integer(1), msg::nil()}), msg::array({msg::f64(1.0)}),
                     msg::array({msg::str("1")}), msg::array({msg::boolean(true)}),
                     msg::array({msg::array({})})},
                    random);
    case WireType::kRanges:
      return any_of({msg::array({msg::array({msg::integer(1)})}), msg::array({msg::integer(1)}),
                     msg::array({msg::array({msg::integer(0), msg::integer(1), msg::integer(2)})}),
                     msg::array({msg::array({msg::integer(0), msg::nil()})})},
                    random);
    case WireType::kKVCache:
      return any_of({msg::array({msg::integer(1)}), msg::array({msg::bin("x")}),
                     msg::array({msg::nil()}), msg::array({msg::map({})})},
                    random);
    case WireType::kKey: {
      std::optional<MapFields> fields = map_fields(type, payload);
      if (!fields || one_in(random, 2)) break;
      fields->maps[0].erase(fields->maps[0].begin() +
                            static_cast<std::ptrdiff_t>(below(random, 7)));  // all but cache_salt
      return compose(*fields);
    }
    case WireType::kLayoutHints:
    case WireType::kBlockAllocationRecords:
    case WireType::kCBMatchResults:
      break;
    default:
      return same(payload);
  }
  return with_field(type, payload, random, no_fields_value(random),
                    [](const std::string&) { return true; });
}

Bytes payload_with_bytes_behind(WireType, ByteView payload, Random& random) {
  Bytes more = random_bytes(random, 8);
  more.push_back(static_cast<std::uint8_t>(random()));
  return msg::followed_by(same(payload), more);
}

Bytes cut_payload(WireType, ByteView payload, Random& random) {
  return msg::without_last(same(payload), 1 + below(random, payload.size()));
}

Bytes empty_payload(WireType, ByteView, Random&) { return {}; }

Bytes payload_never_used(WireType type, ByteView payload, Random& random) {
  if (is_array(type) && one_in(random, 2)) return msg::array({msg::never_used()});
  if (is_map(type) && one_in(random, 2))
    return with_field(type, payload, random, msg::never_used(),
                      [](const std::string&) { return true; });
  return msg::never_used();
}

Bytes lying_payload(WireType type, ByteView payload, Random& random) {
  if (type == WireType::kKey && one_in(random, 2))
    return with_field(type, payload, random, msg::array32_header(0xffffffff),
                      [](const std::string& name) { return name == "token_ids"; });
  return any_of({msg::array32_header(0xffffffff), msg::map32_header(0xffffffff),
                 msg::raw({0xdb, 0xff, 0xff, 0xff, 0xff}), msg::raw({0xc6, 0xff, 0xff, 0xff, 0xff}),
                 msg::raw({0xc9, 0xff, 0xff, 0xff, 0xff, 0x01}), msg::array16_header(0xffff),
                 msg::map16_header(0xffff), msg::raw({0xda, 0xff, 0xff, 0x61})},
                random);
}

Bytes deep_payload(WireType type, ByteView payload, Random& random) {
  const std::size_t depth = kDeepMin + below(random, one_in(random, 8) ? kDeepMax : kDeepMin);
  const Bytes deep = one_in(random, 2) ? msg::nested_arrays(depth) : msg::nested_maps(depth);
  std::optional<MapFields> fields = map_fields(type, payload);
  if (!fields || fields->maps.empty() || one_in(random, 2)) return deep;
  fields->maps[0].insert(fields->maps[0].begin(), {msg::str("unknown"), deep});
  return compose(*fields);
}

Bytes huge_payload(WireType, ByteView, Random& random) {
  const std::uint8_t byte = one_in(random, 2) ? 0xc1 : 0x91;
  return Bytes(kHugeBytesMax / 2 + below(random, kHugeBytesMax / 2), byte);
}

Bytes payload_of_bad_text(WireType type, ByteView payload, Random& random) {
  if (type == WireType::kStr || type == WireType::kEngineType) return bad_utf8(random);
  return with_field(type, payload, random, bad_utf8(random), is_text_field);
}

Bytes payload_of_bad_value(WireType type, ByteView payload, Random& random) {
  switch (type) {
    case WireType::kEngineType:
      return any_of({msg::str("VLLM"), msg::str(""), msg::str("vllm "), msg::str("other")}, random);
    case WireType::kKVCache:
      return msg::array({msg::ext(static_cast<std::int8_t>(2 + below(random, 50)), payload)});
    case WireType::kKey: {
      const Bytes salt = any_of({msg::str("a@b"), msg::str("a/b"), msg::str("a\\b"),
                                 msg::str(std::string_view("a\0b", 3)),
                                 msg::str(std::string(kSaltCodePointsMax + 1, 's'))},
                                random);
      return with_field(type, payload, random, salt,
                        [](const std::string& name) { return name == "cache_salt"; });
    }
    case WireType::kLayoutHints:
      return msg::map(
          {{msg::str("kv_layout"), any_of({msg::str("nhd"), msg::nil(), msg::str("")}, random)}});
    default:
      return same(payload);
  }
}

Bytes payload_of_bad_pickle(WireType type, ByteView payload, Random& random) {
  if (type != WireType::kKVCache) return same(payload);
  const Bytes unended = pkl::framed(pkl::str("no object"));
  const std::vector<Bytes> pickles = {
      {},
      msg::raw({0x80, 0x04}),
      msg::raw({'.'}),
      pkl::document(pkl::none()),
      pkl::document(pkl::dict({})),
      pkl::document(pkl::list({pkl::integer(1)})),
      pkl::document(pkl::stack_global(pkl::kWrapperModule, pkl::kCudaWrapper)),
      pkl::document(pkl::object(pkl::stack_global(pkl::kWrapperModule, pkl::kCudaWrapper), {})),
      pkl::document(pkl::object(pkl::stack_global("collections", "OrderedDict"), {})),
      msg::without_last(unended, 1),
      msg::raw({0x80, 0x04, 0x8e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, '.'}),
      msg::raw({0x80, 0x04, 'j', 0xff, 0xff, 0xff, 0xff, '.'}),
      Bytes(100'000, '('),
      Bytes(100'000, ']')};
  return msg::array({msg::ext(1, any_of(pickles, random))});
}

}  // namespace kvc::conformance
