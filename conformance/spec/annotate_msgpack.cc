// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "conformance/spec/annotate.h"

namespace kvc::conformance {
namespace {

constexpr std::size_t kHexBytesMax = 24;   // of one value
constexpr std::size_t kElementsShown = 3;  // of a long array of plain values
constexpr std::size_t kColumnMax = 44;     // where the meanings begin at the latest

std::uint64_t big_endian(ByteView bytes) {
  std::uint64_t out = 0;
  for (const std::uint8_t byte : bytes) out = out << 8U | byte;
  return out;
}

class Annotator {
 public:
  explicit Annotator(ByteView document) : rest_(document), size_(document.size()) {}

  std::vector<AnnotatedLine> all() {
    value(0);
    if (!rest_.empty()) throw std::runtime_error("bytes behind the document");
    return std::move(lines_);
  }

 private:
  ByteView take(std::size_t count) {
    if (count > rest_.size()) throw std::runtime_error("the document is cut");
    const ByteView out = rest_.first(count);
    rest_ = rest_.subspan(count);
    return out;
  }
  std::size_t offset() const { return size_ - rest_.size(); }

  void line(std::size_t from, int depth, std::string hex, std::string meaning) {
    lines_.push_back({from, offset() - from, depth, std::move(hex), std::move(meaning)});
  }

  // A head byte and `width` bytes of a length or a number.
  std::string head(std::uint8_t first, ByteView number) {
    return to_hex(ByteView(&first, 1)) + (number.empty() ? "" : " " + to_hex(number));
  }

  void value(int depth) {
    const std::size_t from = offset();
    const std::uint8_t first = take(1)[0];
    if (first <= 0x7f) return line(from, depth, head(first, {}), std::to_string(first));
    if (first >= 0xe0)
      return line(from, depth, head(first, {}), std::to_string(static_cast<int>(first) - 256));
    if (first <= 0x8f) return map(from, depth, first, {}, first & 0x0fU);
    if (first <= 0x9f) return array(from, depth, first, {}, first & 0x0fU);
    if (first <= 0xbf) return content(from, depth, first, {}, first & 0x1fU, 's');
    switch (first) {
      case 0xc0:
        return line(from, depth, "c0", "nil");
      case 0xc2:
      case 0xc3:
        return line(from, depth, head(first, {}), first == 0xc2 ? "False" : "True");
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return sized(from, depth, first, 1U << (first - 0xc4U), 'b');
      case 0xc7:
      case 0xc8:
      case 0xc9:
        return sized(from, depth, first, 1U << (first - 0xc7U), 'x');
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf: {
        const ByteView number = take(std::size_t{1} << (first - 0xccU));
        return line(from, depth, head(first, number), std::to_string(big_endian(number)));
      }
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3: {
        const ByteView number = take(std::size_t{1} << (first - 0xd0U));
        const auto shift = static_cast<unsigned>(64 - 8 * number.size());
        const auto signed_value = static_cast<std::int64_t>(big_endian(number) << shift) >> shift;
        return line(from, depth, head(first, number), std::to_string(signed_value));
      }
      case 0xd9:
      case 0xda:
      case 0xdb:
        return sized(from, depth, first, 1U << (first - 0xd9U), 's');
      case 0xdc:
      case 0xdd:
      case 0xde:
      case 0xdf: {
        const ByteView number = take(first % 2 == 0 ? 2 : 4);
        const std::uint64_t count = big_endian(number);
        return first <= 0xdd ? array(from, depth, first, number, count)
                             : map(from, depth, first, number, count);
      }
      default:
        throw std::runtime_error(fmt::format("{:02x} is not in the protocol", first));
    }
  }

  void sized(std::size_t from, int depth, std::uint8_t first, std::size_t width, char kind) {
    const ByteView number = take(width);
    content(from, depth, first, number, big_endian(number), kind);
  }

  void content(std::size_t from, int depth, std::uint8_t first, ByteView number,
               std::uint64_t count, char kind) {
    std::string hex = head(first, number);
    std::string code;
    if (kind == 'x') {
      const ByteView type = take(1);
      hex += " " + to_hex(type);
      code = std::to_string(type[0]);
    }
    const ByteView body = take(count);
    if (!body.empty()) hex += " " + to_hex(body.first(std::min(body.size(), kHexBytesMax)));
    if (body.size() > kHexBytesMax) hex += "…";
    const std::string text(body.begin(), body.end());
    line(from, depth, hex,
         kind == 's'   ? "\"" + text + "\""
         : kind == 'x' ? fmt::format("ext of {} bytes, code {}", count, code)
         : count == 0  ? "no bytes"
                       : fmt::format("{} bytes", count));
  }

  void array(std::size_t from, int depth, std::uint8_t first, ByteView number,
             std::uint64_t count) {
    line(from, depth, head(first, number), fmt::format("array of {}", count));
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t before = lines_.size();
      value(depth + 1);
      const bool plain = lines_.size() == before + 1;
      if (i < kElementsShown || i + 1 == count || !plain) continue;
      // One line for all between the first ones and the last.
      AnnotatedLine& here = lines_.back();
      AnnotatedLine& above = lines_[before - 1];
      if (above.bytes == "…") {
        above.size += here.size;
        lines_.pop_back();
      } else {
        here.bytes = "…";
        here.meaning = "and so on";
      }
    }
  }

  void map(std::size_t from, int depth, std::uint8_t first, ByteView number, std::uint64_t count) {
    line(from, depth, head(first, number), fmt::format("map of {}", count));
    for (std::uint64_t i = 0; i < count; ++i) {
      value(depth + 1);
      value(depth + 2);
    }
  }

  ByteView rest_;
  std::size_t size_;
  std::vector<AnnotatedLine> lines_;
};

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

}  // namespace

std::vector<AnnotatedLine> annotate_msgpack(ByteView document) { return Annotator(document).all(); }

std::string annotated_text(const std::vector<AnnotatedLine>& lines) {
  std::size_t column = 0;
  for (const AnnotatedLine& one : lines)
    column = std::max(column, columns(one.bytes) + 2 * static_cast<std::size_t>(one.depth));
  column = std::min(column, kColumnMax);
  std::string out;
  for (const AnnotatedLine& one : lines) {
    std::string left = std::string(2 * static_cast<std::size_t>(one.depth), ' ') + one.bytes;
    const std::size_t width = columns(left);
    left += std::string(width < column ? column - width : 0, ' ');
    out += fmt::format("  {}  {}\n", left, one.meaning);
  }
  return out;
}

}  // namespace kvc::conformance
