// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "utf8.h"

#include <gtest/gtest.h>

namespace kvc {
namespace {

TEST(Utf8, TakesTheEdgesOfEachLength) {
  for (const char* text : {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                           "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_TRUE(is_utf8("12345678" + std::string(text))) << text;  // behind a block of ASCII
  }
}

TEST(Utf8, RefusesOverlongSurrogateTooLargeAndCut) {
  for (const char* text :
       {"\x80", "\xff", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc2", "\xe2\x82", "\xf0\x90\x80", "\xc2\x41"}) {
    EXPECT_FALSE(is_utf8(text));
    EXPECT_FALSE(is_utf8("1234567" + std::string(text)));
  }
}

TEST(Utf8, CountsCodePointsAndNotBytes) {
  EXPECT_EQ(count_code_points("aé\xf0\x9f\x98\x80"), 3U);
  EXPECT_EQ(count_code_points(""), 0U);
}

}  // namespace
}  // namespace kvc
