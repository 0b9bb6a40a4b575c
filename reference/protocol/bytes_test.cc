// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/protocol/bytes.h"

#include <gtest/gtest.h>

namespace kvc {
namespace {

TEST(Hex, WritesTwoLowerCaseDigitsAByte) {
  EXPECT_EQ(to_hex(Bytes{0x01, 0x0e, 0xff}), "010eff");
  EXPECT_EQ(to_hex({}), "");
}

TEST(Hex, ReadsUpperCaseAndBlanksBetweenBytes) {
  const Result<Bytes> bytes = from_hex(" 01 0E\nfF ");
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes, (Bytes{0x01, 0x0e, 0xff}));
}

TEST(Hex, RefusesHalfAByteAndOtherCharacters) {
  EXPECT_EQ(from_hex("010").error().code, Errc::kMalformed);
  EXPECT_EQ(from_hex("0 1").error().text(), "character 1: a byte has two digits");
  EXPECT_EQ(from_hex("01xx").error().text(), "character 2: expected a hexadecimal digit");
}

TEST(Error, TextNamesThePlaceWhereThereIsOne) {
  EXPECT_EQ((Error{Errc::kWrongKind, "$.a", "expected int, got str"}.text()),
            "$.a: expected int, got str");
  EXPECT_EQ((Error{Errc::kInconsistent, {}, "no"}.text()), "no");
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> value = 7;
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value, 7);
  const Result<int> error = Error{Errc::kLimit, "$", "too much"};
  EXPECT_FALSE(error);
  EXPECT_EQ(error.error().code, Errc::kLimit);
  EXPECT_TRUE(Result<void>().ok());
}

TEST(Result, EveryCodeHasItsOwnPhrase) {
  for (int code = 0; code <= static_cast<int>(Errc::kNoMemory); ++code) {
    for (int other = 0; other < code; ++other) {
      EXPECT_STRNE(phrase(static_cast<Errc>(code)), phrase(static_cast<Errc>(other)));
    }
    EXPECT_STRNE(phrase(static_cast<Errc>(code)), "unknown error");
  }
}

TEST(ResultDeathTest, AskingForAValueThatIsNotThereIsOurBug) {
  const Result<int> error = Error{Errc::kLimit, "$", "too much"};
  EXPECT_DEATH(static_cast<void>(*error), "assertion failed: ok\\(\\)");
}

}  // namespace
}  // namespace kvc
