// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Reader: a cursor over one msgpack document that is asked for the kind it expects. Each read
// answers true and moves on, or answers false once and for all and keeps the error. It takes and
// refuses what msgspec does in strict mode. It never allocates more than the frame holds, and does
// not own the frame.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/int.h"
#include "kvc/protocol/int_array.h"
#include "kvc/protocol/result.h"
#include "path.h"

namespace kvc {

class Reader {
 public:
  explicit Reader(ByteView frame) : at_(frame.data()), end_(frame.data() + frame.size()) {}

  bool read_nil(const Path& path);
  bool read_bool(const Path& path, bool& out);
  bool read_int(const Path& path, Int& out);
  bool read_optional_int(const Path& path, std::optional<Int>& out);
  bool read_str(const Path& path, std::string& out);  // UTF-8, checked
  bool read_bytes(const Path& path, Bytes& out);

  // The bytes of a str, unchecked: for what is compared with known names.
  bool read_name(const Path& path, std::string_view& out);

  // An IntArray that sees the frame.
  bool read_int_array(const Path& path, IntArray& out);

  // The header of an array or map. The count is a claim of the peer's: reserve nothing for it.
  bool read_array(const Path& path, std::size_t& num_elements);
  bool read_map(const Path& path, std::size_t& num_pairs);

  // The header of an array that stands for a tuple.
  bool read_tuple(const Path& path, std::size_t num_elements);

  bool read_ext(const Path& path, std::int8_t& code, ByteView& body);

  // Moves past any value. Like msgspec it looks at the structure only: text may be any bytes.
  bool skip(const Path& path);

  // Nothing may follow the document.
  bool finish();

  bool fail(Errc code, const Path& path, std::string message);

  // An error of a document within this one: its "$" is our path.
  bool fail_inside(const Path& path, const Error& error);
  const Error& error() const { return error_; }

 private:
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  bool truncated(const Path& path);
  bool wrong_kind(const Path& path, const char* expected);
  bool take(const Path& path, std::size_t num_bytes, ByteView& out);
  bool take_length(const Path& path, std::size_t num_bytes, std::size_t& out);

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  Error error_;
};

}  // namespace kvc
