// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "reader.h"

#include <array>

#include "int_scan.h"
#include "kvc/protocol/limits.h"
#include "lead.h"
#include "msgpack_int.h"
#include "utf8.h"

namespace kvc {

bool Reader::fail(Errc code, const Path& path, std::string message) {
  error_ = {code, path.text(), std::move(message)};
  return false;
}

bool Reader::fail_inside(const Path& path, const Error& error) {
  error_ = error;
  error_.path = path.text() + error.path.substr(error.path.empty() ? 0 : 1);
  return false;
}

bool Reader::truncated(const Path& path) {
  return fail(Errc::kTruncated, path, "the document ends inside a value");
}

// Called with at_ on the lead byte of a value of another family, or at the end.
bool Reader::wrong_kind(const Path& path, const char* expected) {
  if (at_ == end_) return truncated(path);
  if (*at_ == 0xc1) return fail(Errc::kMalformed, path, "no msgpack value starts with c1");
  return fail(Errc::kWrongKind, path,
              std::string("expected ") + expected + ", got " + lead_of(*at_).name());
}

bool Reader::take(const Path& path, std::size_t num_bytes, ByteView& out) {
  if (num_bytes > left()) return truncated(path);
  out = {at_, num_bytes};
  at_ += num_bytes;
  return true;
}

// The big-endian length of 1, 2 or 4 bytes behind a lead byte; 0 bytes leave `out` as it is.
bool Reader::take_length(const Path& path, std::size_t num_bytes, std::size_t& out) {
  if (num_bytes == 0) return true;
  if (num_bytes > left()) return truncated(path);
  out = num_bytes == 1   ? *at_
        : num_bytes == 2 ? load_big_endian<std::uint16_t>(at_)
                         : load_big_endian<std::uint32_t>(at_);
  at_ += num_bytes;
  return true;
}

bool Reader::read_nil(const Path& path) {
  if (at_ == end_ || *at_ != 0xc0) return wrong_kind(path, "null");
  ++at_;
  return true;
}

bool Reader::read_bool(const Path& path, bool& out) {
  if (at_ == end_ || (*at_ != 0xc2 && *at_ != 0xc3)) return wrong_kind(path, "bool");
  out = *at_++ == 0xc3;
  return true;
}

bool Reader::read_int(const Path& path, Int& out) {
  if (at_ == end_ || kIntBytes[*at_] == 0) return wrong_kind(path, "int");
  if (kIntBytes[*at_] > left()) return truncated(path);
  out = load_int(at_);
  at_ += kIntBytes[*at_];
  return true;
}

bool Reader::read_optional_int(const Path& path, std::optional<Int>& out) {
  if (at_ != end_ && *at_ == 0xc0) {
    out.reset();
    ++at_;
    return true;
  }
  if (at_ == end_ || kIntBytes[*at_] == 0) return wrong_kind(path, "int or null");
  Int value;
  if (!read_int(path, value)) return false;
  out = value;
  return true;
}

bool Reader::read_name(const Path& path, std::string_view& out) {
  if (at_ == end_ || lead_of(*at_).family != Family::kStr) return wrong_kind(path, "str");
  const Lead lead = lead_of(*at_++);
  std::size_t num_bytes = lead.count;
  ByteView bytes;
  if (!take_length(path, lead.length_bytes, num_bytes) || !take(path, num_bytes, bytes))
    return false;
  out = as_text(bytes);
  return true;
}

bool Reader::read_str(const Path& path, std::string& out) {
  std::string_view text;
  if (!read_name(path, text)) return false;
  if (!is_utf8(text))
    return fail(Errc::kBadUtf8, path, "expected str, got bytes that are no UTF-8");
  out = text;
  return true;
}

bool Reader::read_bytes(const Path& path, Bytes& out) {
  if (at_ == end_ || lead_of(*at_).family != Family::kBytes) return wrong_kind(path, "bytes");
  const Lead lead = lead_of(*at_++);
  std::size_t num_bytes = 0;
  ByteView bytes;
  if (!take_length(path, lead.length_bytes, num_bytes) || !take(path, num_bytes, bytes))
    return false;
  out.assign(bytes.begin(), bytes.end());
  return true;
}

bool Reader::read_array(const Path& path, std::size_t& num_elements) {
  if (at_ == end_ || lead_of(*at_).family != Family::kArray) return wrong_kind(path, "array");
  const Lead lead = lead_of(*at_++);
  num_elements = lead.count;
  return take_length(path, lead.length_bytes, num_elements);
}

bool Reader::read_map(const Path& path, std::size_t& num_pairs) {
  if (at_ == end_ || lead_of(*at_).family != Family::kObject) return wrong_kind(path, "object");
  const Lead lead = lead_of(*at_++);
  num_pairs = lead.count;
  return take_length(path, lead.length_bytes, num_pairs);
}

bool Reader::read_tuple(const Path& path, std::size_t num_elements) {
  if (at_ == end_ || lead_of(*at_).family != Family::kArray) return wrong_kind(path, "array");
  const Lead lead = lead_of(*at_++);
  std::size_t actual = lead.count;
  if (!take_length(path, lead.length_bytes, actual)) return false;
  if (actual == num_elements) return true;
  return fail(Errc::kWrongLength, path,
              "expected array of length " + std::to_string(num_elements) + ", got " +
                  std::to_string(actual));
}

bool Reader::read_int_array(const Path& path, IntArray& out) {
  std::size_t size = 0;
  if (!read_array(path, size)) return false;
  const IntScan scan = scan_ints({at_, left()}, size);
  const ByteView encoded{at_, scan.num_bytes};
  at_ += scan.num_bytes;
  if (scan.num_ints < size) {
    Int unused;  // reads what is no integer once more, for its error
    return read_int(path.element(scan.num_ints), unused);
  }
  out = IntArray::seeing(encoded, size, scan.all_fit_u32, scan.minimal);
  return true;
}

bool Reader::read_ext(const Path& path, std::int8_t& code, ByteView& body) {
  if (at_ == end_ || lead_of(*at_).family != Family::kExt) return wrong_kind(path, "ext");
  const Lead lead = lead_of(*at_++);
  std::size_t num_bytes = lead.count;
  ByteView code_byte;
  if (!take_length(path, lead.length_bytes, num_bytes) || !take(path, 1, code_byte) ||
      !take(path, num_bytes, body)) {
    return false;
  }
  code = static_cast<std::int8_t>(code_byte[0]);
  return true;
}

bool Reader::skip(const Path& path) {
  // How many values are still to come in each container around the current value.
  std::array<std::uint64_t, limits::kNestingMax + 1> open;
  std::size_t depth = 0;
  open[0] = 1;
  while (true) {
    while (open[depth] == 0) {
      if (depth == 0) return true;
      --depth;
    }
    --open[depth];
    if (at_ == end_) return truncated(path);
    const Lead lead = lead_of(*at_);
    if (lead.family == Family::kNone) return wrong_kind(path, "a value");
    ++at_;
    std::size_t count = lead.count;
    if (!take_length(path, lead.length_bytes, count)) return false;
    ByteView unused;
    switch (lead.family) {
      case Family::kArray:
      case Family::kObject: {
        if (count == 0) break;
        if (depth == limits::kNestingMax) return fail(Errc::kLimit, path, "nested too deep");
        open[++depth] = lead.family == Family::kArray ? count : std::uint64_t{2} * count;
        break;
      }
      case Family::kExt:
        ++count;  // the code
        [[fallthrough]];
      default:
        if (!take(path, count, unused)) return false;
    }
  }
}

bool Reader::finish() {
  if (at_ == end_) return true;
  return fail(Errc::kTrailingBytes, Path{},
              std::to_string(left()) + " bytes after the end of the document");
}

}  // namespace kvc
