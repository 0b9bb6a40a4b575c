// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/cases/families.h"

#include <algorithm>
#include <limits>
#include <set>

#include "conformance/harness/byte_builder.h"

namespace kvc::conformance {
namespace {

constexpr std::uint64_t kBeyondI64 = std::uint64_t{1} << 63;

Family nil() { return {"Nil", {msg::nil()}}; }
Family boolean() { return {"Bool", {msg::boolean(true), msg::boolean(false)}}; }
Family integer() {
  return {"Int",
          {msg::integer(0), msg::integer(14), msg::integer(-1), msg::u64(kBeyondI64),
           msg::i64(std::numeric_limits<std::int64_t>::min())}};
}
Family floating() {
  return {"Float",
          {msg::f64(1.0), msg::f32(1.0F), msg::f64(0.5),
           msg::f64(std::numeric_limits<double>::quiet_NaN()),
           msg::f32(std::numeric_limits<float>::infinity())}};
}
Family str() {
  return {"Str", {msg::str(""), msg::str("1"), msg::str8("text"), msg::str32("text")}};
}
Family bin() { return {"Bin", {msg::bin(""), msg::bin("1"), msg::bin16(as_bytes("text"))}}; }
Family array() {
  return {"Array",
          {msg::array({}), msg::array({msg::integer(1)}), msg::array({msg::str("a"), msg::nil()}),
           msg::nested_arrays(3)}};
}
Family map() {
  return {"Map",
          {msg::map({}), msg::map({{msg::str("a"), msg::integer(1)}}),
           msg::map({{msg::integer(1), msg::integer(1)}})}};
}
// Code -1 is msgpack's own timestamp, which the real decoder knows as a value.
Family ext() {
  return {"Ext",
          {msg::ext(1, as_bytes("a")), msg::ext(2, as_bytes("abc")), msg::ext(0, {}),
           msg::fixext(-1, as_bytes("\x60\x00\x00\x00")), msg::ext32(127, as_bytes("text"))}};
}

std::vector<Family> all_kinds() {
  return {nil(), boolean(), integer(), floating(), str(), bin(), array(), map(), ext()};
}

std::vector<Family> all_but(const std::set<std::string>& own) {
  std::vector<Family> out;
  for (Family& family : all_kinds())
    if (!own.contains(family.name)) out.push_back(std::move(family));
  return out;
}

// An array whose first, middle or last element is of another kind.
Family with_wrong_element(const std::string& name, const std::vector<Family>& kinds,
                          const Bytes& good) {
  Family out{name, {}};
  for (const Family& kind : kinds) {
    const Bytes& bad = kind.documents.back();
    out.documents.push_back(msg::array({bad}));
    out.documents.push_back(msg::array({good, bad, good}));
    out.documents.push_back(msg::array({good, good, bad}));
  }
  return out;
}

Family lying_array() {
  return {"LyingArrayLength",
          {msg::array32_header(0xffffffff), msg::array16_header(0xffff), msg::fixarray_header(1),
           msg::followed_by(msg::array32_header(3), msg::integer(1))}};
}

Family not_utf8() {
  return {"InvalidUtf8",
          {msg::str("\xff"), msg::str("ab\x80"), msg::str8("\xc3"), msg::str("\xed\xa0\x80"),
           msg::str("\xc0\xaf"), msg::str16("\xf4\x90\x80\x80")}};
}

}  // namespace

std::vector<Family> refused_kinds(WireType type) {
  switch (type) {
    case WireType::kInt:
      return all_but({"Int"});
    case WireType::kOptionalInt:
      return all_but({"Int", "Nil"});
    case WireType::kBool:
      return all_but({"Bool"});
    case WireType::kStr:
    case WireType::kEngineType:
      return all_but({"Str"});
    case WireType::kBytes:
      return all_but({"Bin"});
    case WireType::kKey:
    case WireType::kLayoutHints:
      return all_but({"Map"});
    case WireType::kKVCache:
    case WireType::kIntList:
    case WireType::kBlockAllocationRecords:
    case WireType::kTransferResult:
    case WireType::kRanges:
    case WireType::kCBMatchResults:
      return all_but({"Array"});
    case WireType::kNone:
      return all_but({"Nil"});
  }
  return {};
}

std::vector<Family> malformed(const Bytes& valid) {
  std::vector<Bytes> truncated;
  if (valid.size() > 1) truncated = {msg::without_last(valid, 1), {valid.front()}};
  truncated.push_back(msg::raw({0xcf, 0, 0, 0}));
  truncated.push_back(msg::raw({0xdb, 0, 0, 0, 9, 'x'}));
  return {
      {"NeverUsedByte", {msg::never_used()}},
      {"EmptyFrame", {{}}},
      {"TruncatedDocument", truncated},
      {"TrailingBytes",
       {msg::followed_by(valid, msg::nil()), msg::followed_by(valid, valid),
        msg::followed_by(valid, msg::never_used())}},
  };
}

std::vector<Family> refused_values(WireType type, const Bytes& valid) {
  const Bytes one = msg::integer(1);
  switch (type) {
    case WireType::kStr:
      return {not_utf8()};
    case WireType::kIntList:
      return {with_wrong_element("ElementOfAnotherKind", refused_kinds(WireType::kInt), one),
              lying_array()};
    case WireType::kEngineType:
      return {not_utf8(),
              {"UnknownName",
               {msg::str(""), msg::str("VLLM"), msg::str("vllm "), msg::str("vll"),
                msg::str("tensorrt"), msg::str("EngineType.VLLM")}}};
    case WireType::kKVCache: {
      std::vector<Family> kinds = all_but({"Ext"});
      Bytes honest(valid.begin() + 1, valid.end());  // behind the array's one-byte header
      return {with_wrong_element("ElementOfAnotherKind", kinds, honest),
              {"ElementOfAnotherExtCode",
               {msg::array({msg::ext(0, as_bytes("a"))}), msg::array({msg::ext(2, as_bytes("a"))}),
                msg::array({msg::ext(127, as_bytes("ab"))}),
                msg::array({msg::fixext(-1, as_bytes("\x60\x00\x00\x00"))})}},
              lying_array()};
    }
    case WireType::kBlockAllocationRecords:
    case WireType::kCBMatchResults: {
      Bytes honest(valid.begin() + 1, valid.end());
      return {with_wrong_element("ElementOfAnotherKind", all_but({"Map"}), honest), lying_array()};
    }
    case WireType::kRanges: {
      Bytes honest(valid.begin() + 1, valid.end());
      return {with_wrong_element("ElementOfAnotherKind", all_but({"Array"}), honest),
              {"PairOfAnotherLength",
               {msg::array({msg::array({})}), msg::array({msg::array({one})}),
                msg::array({msg::array({one, one, one})})}},
              with_wrong_element("PairWithAnotherKind", refused_kinds(WireType::kInt), honest),
              lying_array()};
    }
    case WireType::kKey:
    case WireType::kLayoutHints:
      return {{"KeyThatIsNoStr",
               {msg::map({{msg::integer(1), one}}), msg::map({{msg::nil(), one}}),
                msg::map({{msg::array({}), one}}), msg::map({{msg::boolean(true), one}})}},
              {"LyingMapLength", {msg::map32_header(0xffffffff), msg::map16_header(0xffff)}}};
    default:
      return {};
  }
}

}  // namespace kvc::conformance
