// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What golden/ cannot say of the codec: its error codes, limits, and what it must not do.
#include "kvc/protocol/codec.h"

#include <gtest/gtest.h>

#include "kvc/protocol/limits.h"

namespace kvc {
namespace {

Bytes hex(std::string_view text) { return from_hex(text).value(); }

Key sample_key() {
  Key key;
  key.model_name = "m";
  key.worker_id = 3;
  key.token_ids = {1, 200, 70000};
  key.end = 3;
  key.request_id = "r";
  return key;
}

template <class T>
Error error_of(std::string_view frame_hex) {
  const Bytes frame = hex(frame_hex);
  const Result<T> result = decode<T>(frame);
  EXPECT_FALSE(result.ok()) << frame_hex;
  return result.ok() ? Error{} : result.error();
}

TEST(Codec, EveryPrefixOfADocumentIsTruncated) {
  const Bytes frame = encoded(sample_key());
  for (std::size_t size = 0; size < frame.size(); ++size) {
    // In a buffer of its own, so that a read past the end is seen by a sanitizer.
    const Bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
    const Result<Key> key = decode<Key>(cut);
    ASSERT_FALSE(key.ok()) << size;
    EXPECT_EQ(key.error().code, Errc::kTruncated) << size;
  }
}

TEST(Codec, NothingMayFollowTheDocument) {
  EXPECT_EQ(error_of<Int>("0e00").code, Errc::kTrailingBytes);
  EXPECT_EQ(error_of<Int>("0e00").text(), "$: 1 bytes after the end of the document");
}

TEST(Codec, ErrorsNameThePlaceAndBothKinds) {
  EXPECT_EQ(error_of<IntArray>("9301a16102").text(), "$[1]: expected int, got str");
  EXPECT_EQ(error_of<OptionalInt>("c3").text(), "$: expected int or null, got bool");
  EXPECT_EQ(error_of<Key>("81a17801").text(), "$: missing required field model_name");
  EXPECT_EQ(error_of<Key>("81c0c0").text(), "key in $: expected str, got null");
  EXPECT_EQ(error_of<Ranges>("92920102930102c0").text(), "$[1]: expected array of length 2, got 3");
  EXPECT_EQ(error_of<BlockAllocationRecords>("9181ad6e65775f626c6f636b5f69647392a16101").text(),
            "$[0].new_block_ids[0]: expected int, got str");
}

TEST(Codec, ErrorsHaveTheirCodes) {
  EXPECT_EQ(error_of<Int>("c1").code, Errc::kMalformed);
  EXPECT_EQ(error_of<Int>("cb3ff0000000000000").code, Errc::kWrongKind);
  EXPECT_EQ(error_of<std::string>("a1ff").code, Errc::kBadUtf8);
  EXPECT_EQ(error_of<EngineType>("a4564c4c4d").code, Errc::kBadValue);
  EXPECT_EQ(error_of<Key>("80").code, Errc::kMissingField);
  EXPECT_EQ(error_of<TransferResult>("93c400c2c2").code, Errc::kWrongLength);
  EXPECT_EQ(error_of<KVCache>("91d40200").code, Errc::kWrongExtCode);
}

TEST(Codec, ClaimsWithoutBytesAreRefusedWithoutMemory) {
  // Headers that claim 2^32-1 elements, pairs or bytes. Reserving for them would need gigabytes.
  EXPECT_EQ(error_of<IntArray>("ddffffffff").code, Errc::kTruncated);
  EXPECT_EQ(error_of<BlockAllocationRecords>("ddffffffff").code, Errc::kTruncated);
  EXPECT_EQ(error_of<Ranges>("ddffffffff").code, Errc::kTruncated);
  EXPECT_EQ(error_of<Key>("dfffffffff").code, Errc::kTruncated);
  EXPECT_EQ(error_of<std::string>("dbffffffff").code, Errc::kTruncated);
  EXPECT_EQ(error_of<Bytes>("c6ffffffff").code, Errc::kTruncated);
  EXPECT_EQ(error_of<KVCache>("ddffffffff").code, Errc::kLimit);
}

TEST(Codec, UnknownFieldsNestDownToTheLimit) {
  const auto hints_with = [](std::size_t depth) {
    Bytes frame = {0x81, 0xa1, 'x'};
    frame.insert(frame.end(), depth, 0x91);
    frame.push_back(0xc0);
    return frame;
  };
  EXPECT_TRUE(decode<LayoutHints>(hints_with(limits::kNestingMax)).ok());
  const Result<LayoutHints> deeper = decode<LayoutHints>(hints_with(limits::kNestingMax + 1));
  ASSERT_FALSE(deeper.ok());
  EXPECT_EQ(deeper.error().code, Errc::kLimit);
}

TEST(Codec, CacheSaltHasItsOwnRules) {
  Key key = sample_key();
  for (const char* bad : {"a@b", "/", "\\"}) {
    key.cache_salt = bad;
    const Bytes frame = encoded(key);
    const Result<Key> result = decode<Key>(frame);
    ASSERT_FALSE(result.ok()) << bad;
    EXPECT_EQ(result.error().code, Errc::kBadValue);
    EXPECT_EQ(result.error().path, "$.cache_salt");
  }
  key.cache_salt = std::string(1, '\0');
  EXPECT_FALSE(decode<Key>(encoded(key)).ok());
  for (std::size_t i = 0; i < limits::kCacheSaltCodePointsMax; ++i) key.cache_salt += "é";
  key.cache_salt.erase(0, 1);
  const Bytes longest = encoded(key);
  EXPECT_TRUE(decode<Key>(longest).ok());  // 128 characters, 256 bytes
  key.cache_salt += "x";
  const Bytes too_long = encoded(key);
  EXPECT_EQ(decode<Key>(too_long).error().text(), "$.cache_salt: exceeds 128 characters, got 129");
}

TEST(Codec, AKeySeesTheFrameAndCopiesNoToken) {
  const Bytes frame = encoded(sample_key());
  const Result<Key> key = decode<Key>(frame);
  ASSERT_TRUE(key.ok());
  const ByteView tokens = key->token_ids.encoded();
  EXPECT_GE(tokens.data(), frame.data());
  EXPECT_LE(tokens.data() + tokens.size(), frame.data() + frame.size());
}

TEST(Codec, LayoutHintsKeepTheOrderOfTheSender) {
  const Bytes frame = hex("82a8686561645f64696d04a96b765f6c61796f7574a34e4844");
  const Result<LayoutHints> hints = decode<LayoutHints>(frame);
  ASSERT_TRUE(hints.ok());
  EXPECT_EQ(encoded(*hints), frame);
  LayoutHints same;
  same.kv_layout = KvLayout::kNHD;
  same.head_dim = 4;
  EXPECT_EQ(*hints, same);
  EXPECT_NE(encoded(same), frame);
}

TEST(Codec, DescribeCutsWhatIsLong) {
  Key key = sample_key();
  EXPECT_EQ(describe(key),
            "Key{model_name=\"m\", world_size=1, worker_id=3, token_ids=[1, 200, 70000], start=0, "
            "end=3, request_id=\"r\", cache_salt=\"\"}");
  key.token_ids = IntArray::of_u32(std::vector<std::uint32_t>(1000, 7));
  EXPECT_NE(describe(key).find("7, … (1000 elements)]"), std::string::npos);
  EXPECT_EQ(describe(Bytes(20, 0xab)), "b'abababababababababababababababab'… (20 bytes)");
  EXPECT_EQ(describe(TransferResult{{}, true}), "(b'', True)");
}

}  // namespace
}  // namespace kvc
