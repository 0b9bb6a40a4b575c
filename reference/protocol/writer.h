// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Writer: msgpack values appended to a Bytes, in the encodings that msgspec writes (always the
// shortest). A thin dress over msgpack-cxx's packer. Does not own the buffer.
#pragma once

#include <cstddef>
#include <string_view>

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/int.h"
#include "kvc/protocol/int_array.h"

namespace kvc {

class Writer {
 public:
  explicit Writer(Bytes& out) : out_(out) {}

  void write_nil();
  void write_bool(bool value);
  void write_int(Int value);
  void write_str(std::string_view text);
  void write_bytes(ByteView bytes);
  void write_ext(std::int8_t code, ByteView body);
  void write_array(std::size_t num_elements);
  void write_map(std::size_t num_pairs);
  void write_int_array(const IntArray& values);

 private:
  Bytes& out_;
};

}  // namespace kvc
