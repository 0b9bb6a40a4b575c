// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The referee's bytes against the msgpack specification, written out: no codec takes part.
#include "conformance/harness/byte_builder.h"

#include <gtest/gtest.h>

#include "conformance/harness/pickle_builder.h"

namespace kvc::conformance {
namespace {

TEST(ByteBuilder, WritesEveryIntegerWidth) {
  EXPECT_EQ(to_hex(msg::integer(0)), "00");
  EXPECT_EQ(to_hex(msg::integer(127)), "7f");
  EXPECT_EQ(to_hex(msg::integer(128)), "cc80");
  EXPECT_EQ(to_hex(msg::integer(-1)), "ff");
  EXPECT_EQ(to_hex(msg::integer(-33)), "d0df");
  EXPECT_EQ(to_hex(msg::integer(-129)), "d1ff7f");
  EXPECT_EQ(to_hex(msg::integer(-32769)), "d2ffff7fff");
  EXPECT_EQ(to_hex(msg::integer(INT64_MIN)), "d38000000000000000");
  EXPECT_EQ(to_hex(msg::unsigned_integer(UINT64_MAX)), "cfffffffffffffffff");

  std::string widths;
  for (const Bytes& width : msg::every_width(14)) widths += to_hex(width) + " ";
  EXPECT_EQ(widths,
            "0e cc0e cd000e ce0000000e cf000000000000000e d00e d1000e d20000000e "
            "d3000000000000000e ");
}

TEST(ByteBuilder, WritesEveryForm) {
  EXPECT_EQ(to_hex(msg::f32(1.0F)), "ca3f800000");
  EXPECT_EQ(to_hex(msg::f64(1.0)), "cb3ff0000000000000");
  EXPECT_EQ(to_hex(msg::str("OK")), "a24f4b");
  EXPECT_EQ(to_hex(msg::str32("OK")), "db000000024f4b");
  EXPECT_EQ(to_hex(msg::bin("OK")), "c4024f4b");
  EXPECT_EQ(to_hex(msg::array({msg::nil(), msg::boolean(true)})), "92c0c3");
  EXPECT_EQ(to_hex(msg::array32_header(0xffffffff)), "ddffffffff");
  EXPECT_EQ(to_hex(msg::map({{msg::str("a"), msg::integer(1)}})), "81a16101");
  EXPECT_EQ(to_hex(msg::fixext(1, msg::raw({1, 2}))), "d5010102");
  EXPECT_EQ(to_hex(msg::ext8(-1, msg::raw({1, 2, 3}))), "c703ff010203");
  EXPECT_EQ(to_hex(msg::nested_arrays(2)), "919190");
  EXPECT_EQ(to_hex(msg::without_last(msg::u16(1), 1)), "cd00");
}

TEST(ByteBuilder, WritesTheSameValueInOtherForms) {
  const Bytes document =
      msg::array({msg::integer(5), msg::str("a"), msg::bin("b"), msg::nil(),
                  msg::map({{msg::str("k"), msg::integer(300)}}), msg::ext(1, as_bytes("xyz"))});
  std::string forms;
  for (const Bytes& form : msg::other_encodings(document)) forms += to_hex(form) + "\n";
  EXPECT_EQ(forms,
            "dc0006cc05d90161c40162c0de0001d9016bd3000000000000012cc7030178797a\n"
            "dc0006cd0005da000161c5000162c0de0001da00016bcd012cc800030178797a\n"
            "dc0006d200000005da000161c5000162c0de0001da00016bd20000012cc800030178797a\n"
            "dd00000006cf0000000000000005db0000000161c60000000162c0df00000001db000000016b"
            "cf000000000000012cc9000000030178797a\n"
            "dd00000006d30000000000000005db0000000161c60000000162c0df00000001db000000016b"
            "d3000000000000012cc9000000030178797a\n");
}

TEST(ByteBuilder, PicklesAsPythonReadsThem) {
  // Checked with pickletools: PROTO 4, GLOBAL 'time sleep', MARK, BINFLOAT 0.5, TUPLE, REDUCE,
  // STOP.
  EXPECT_EQ(to_hex(pkl::document(pkl::call(pkl::global("time", "sleep"), {pkl::real(0.5)}))),
            "80046374696d650a736c6565700a28473fe000000000000074522e");
  EXPECT_EQ(to_hex(pkl::integer(255)), "4bff");
  EXPECT_EQ(to_hex(pkl::integer(65535)), "4dffff");
  EXPECT_EQ(to_hex(pkl::integer(-1)), "4affffffff");
  EXPECT_EQ(to_hex(pkl::integer(std::int64_t{1} << 31)), "8a050000008000");
}

}  // namespace
}  // namespace kvc::conformance
