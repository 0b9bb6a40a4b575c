// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/spec/annotate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/cases/testee/golden_data.h"
#include "golden/golden_files.h"

namespace kvc::conformance {
namespace {

using testing::HasSubstr;

// Every byte is in exactly one line, in order.
void expect_whole(const std::vector<AnnotatedLine>& lines, ByteView bytes,
                  const std::string& place) {
  std::size_t at = 0;
  for (const AnnotatedLine& line : lines) {
    ASSERT_EQ(line.offset, at) << place;
    at += line.size;
  }
  EXPECT_EQ(at, bytes.size()) << place;
}

TEST(Annotate, TellsEachByteOfEachGoldenFrame) {
  GoldenData golden("0.4.5", "");
  std::size_t count = 0;
  for (const EmbeddedFile& file : golden_files("0.4.5")) {
    if (file.path.substr(0, 7) != "accept/") continue;
    for (const GoldenLine& line : golden.lines(std::string(file.path)).lines) {
      const Bytes bytes = line.bytes("hex");
      // Unknown fields may hold what no type of the protocol has: floats.
      if (line.has("encoding") && line.text("encoding").find("float") != std::string::npos)
        continue;
      try {
        expect_whole(annotate_msgpack(bytes), bytes, line.place);
        ++count;
      } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("is not in the protocol")) << line.place;
      }
    }
  }
  EXPECT_GT(count, 5000U);
}

TEST(Annotate, TellsEachByteOfAPickle) {
  GoldenData golden("0.4.5", "");
  std::size_t count = 0;
  for (const GoldenLine& line : golden.lines("pickles.jsonl").lines) {
    if (line.text("name").find("protocol 4") == std::string::npos || !line.has("value")) continue;
    const Bytes bytes = line.bytes("hex");
    expect_whole(annotate_pickle(bytes), bytes, line.place);
    ++count;
  }
  EXPECT_GT(count, 3U);
}

TEST(Annotate, SaysWhatAValueIs) {
  const auto text = [](const char* hex) {
    return annotated_text(annotate_msgpack(*from_hex(hex)));
  };
  EXPECT_EQ(text("cd0100"), "  cd 0100  256\n");
  EXPECT_EQ(text("d3ffffffffffffffff"), "  d3 ffffffffffffffff  -1\n");
  EXPECT_EQ(text("cfffffffffffffffff"), "  cf ffffffffffffffff  18446744073709551615\n");
  EXPECT_EQ(text("d080"), "  d0 80  -128\n");
  EXPECT_EQ(text("ff"), "  ff  -1\n");
  EXPECT_EQ(text("a24f4b"), "  a2 4f4b  \"OK\"\n");
  EXPECT_EQ(text("81a16101"), "  81       map of 1\n    a1 61  \"a\"\n      01   1\n");
  EXPECT_EQ(
      text("960102030405c3"),
      "  96    array of 6\n    01  1\n    02  2\n    03  3\n    …   and so on\n    c3  True\n");
}

TEST(Annotate, RefusesWhatIsNoDocument) {
  EXPECT_THROW(annotate_msgpack(*from_hex("a24f")), std::runtime_error);
  EXPECT_THROW(annotate_msgpack(*from_hex("0101")), std::runtime_error);
  EXPECT_THROW(annotate_msgpack(*from_hex("c1")), std::runtime_error);
  EXPECT_THROW(annotate_msgpack({}), std::runtime_error);
  EXPECT_THROW(annotate_pickle(*from_hex("8004ff")), std::runtime_error);
  EXPECT_THROW(annotate_pickle(*from_hex("80")), std::runtime_error);
}

}  // namespace
}  // namespace kvc::conformance
