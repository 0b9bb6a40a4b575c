// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "writer.h"

#include <limits>
#include <msgpack.hpp>

#include "kvc/protocol/assert.h"

namespace kvc {
namespace {

// What msgpack::packer calls a stream.
struct Appender {
  Bytes& out;
  void write(const char* data, std::size_t size) {
    out.insert(out.end(), reinterpret_cast<const std::uint8_t*>(data),
               reinterpret_cast<const std::uint8_t*>(data) + size);
  }
};

msgpack::packer<Appender> packer_to(Appender& appender) {
  return msgpack::packer<Appender>(appender);
}

// A length on this wire is a uint32; we never make a longer value.
std::uint32_t length_of(std::size_t size) {
  KVC_ASSERT(size <= std::numeric_limits<std::uint32_t>::max());
  return static_cast<std::uint32_t>(size);
}

}  // namespace

void Writer::write_nil() {
  Appender appender{out_};
  packer_to(appender).pack_nil();
}

void Writer::write_bool(bool value) {
  Appender appender{out_};
  if (value) {
    packer_to(appender).pack_true();
  } else {
    packer_to(appender).pack_false();
  }
}

void Writer::write_int(Int value) {
  Appender appender{out_};
  if (value.is_negative()) {
    packer_to(appender).pack_int64(static_cast<std::int64_t>(value.bits()));
  } else {
    packer_to(appender).pack_uint64(value.bits());
  }
}

void Writer::write_str(std::string_view text) {
  Appender appender{out_};
  packer_to(appender).pack_str(length_of(text.size()));
  appender.write(text.data(), text.size());
}

void Writer::write_bytes(ByteView bytes) {
  Appender appender{out_};
  packer_to(appender).pack_bin(length_of(bytes.size()));
  out_.insert(out_.end(), bytes.begin(), bytes.end());
}

void Writer::write_ext(std::int8_t code, ByteView body) {
  Appender appender{out_};
  packer_to(appender).pack_ext(length_of(body.size()), code);
  out_.insert(out_.end(), body.begin(), body.end());
}

void Writer::write_array(std::size_t num_elements) {
  Appender appender{out_};
  packer_to(appender).pack_array(length_of(num_elements));
}

void Writer::write_map(std::size_t num_pairs) {
  Appender appender{out_};
  packer_to(appender).pack_map(length_of(num_pairs));
}

void Writer::write_int_array(const IntArray& values) {
  write_array(values.size());
  if (values.minimal()) {
    out_.insert(out_.end(), values.encoded().begin(), values.encoded().end());
    return;
  }
  for (const Int value : values) write_int(value);
}

}  // namespace kvc
