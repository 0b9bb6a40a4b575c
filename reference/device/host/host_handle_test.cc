// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/host/host_handle.h"

#include <gtest/gtest.h>

namespace kvc {
namespace {

Bytes handle_of(std::string text, std::size_t size = 64) {
  text.resize(size, '\0');
  return to_bytes(as_bytes(text));
}

TEST(HostHandle, HoldsANamePaddedWithNul) {
  const Bytes handle = write_host_handle(kMemoryMagic, "/kv-1-2");
  EXPECT_EQ(handle, handle_of("KVHOSTM1/kv-1-2"));
  const Result<std::string> name = read_host_handle(handle, kMemoryMagic);
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(*name, "/kv-1-2");
}

TEST(HostHandle, MayFillAllItsBytes) {
  const std::string name = "/" + std::string(55, 'x');
  const Result<std::string> read = read_host_handle(handle_of("KVHOSTE1" + name), kEventMagic);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, name);
}

TEST(HostHandle, RefusesWhatIsNoName) {
  using namespace std::string_literals;
  const Bytes cases[] = {
      {},
      handle_of("KVHOSTM1/a", 63),
      handle_of("KVHOSTM1/a", 65),
      handle_of(""),
      handle_of("KVHOSTE1/a"),
      handle_of("KVHOSTM2/a"),
      handle_of("KVHOSTM1"),
      handle_of("KVHOSTM1a"),
      handle_of("KVHOSTM1/"),
      handle_of("KVHOSTM1/."),
      handle_of("KVHOSTM1/.."),
      handle_of("KVHOSTM1//a"),
      handle_of("KVHOSTM1/a/b"),
      handle_of("KVHOSTM1/../etc/passwd"),
      handle_of("KVHOSTM1/a\0b"s),
      handle_of("KVHOSTM1\0/a"s),
      handle_of("KVHOSTM1/a" + std::string(53, '\0') + "b"),
      Bytes(64, 0xff),
  };
  for (const Bytes& handle : cases) {
    const Result<std::string> name = read_host_handle(handle, kMemoryMagic);
    ASSERT_FALSE(name.ok()) << to_hex(handle);
    EXPECT_EQ(name.error().code, Errc::kBadValue);
  }
}

}  // namespace
}  // namespace kvc
