// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "conformance/spec/annotate.h"

namespace kvc::conformance {
namespace {

constexpr std::size_t kHexBytesMax = 20;

enum class Argument { kNone, kNumber, kText, kBytes };

// What Python 3.8 to 3.14 writes for a wrapper. Source: pickletools of CPython.
struct Opcode {
  std::uint8_t code;
  const char* name;
  Argument argument;
  std::size_t width;  // of the number, or of the length of text and bytes
  const char* meaning;
};
constexpr Opcode kOpcodes[] = {
    {0x80, "PROTO", Argument::kNumber, 1, "the protocol"},
    {0x95, "FRAME", Argument::kNumber, 8, "so many bytes follow"},
    {0x8c, "SHORT_BINUNICODE", Argument::kText, 1, "a str"},
    {0x58, "BINUNICODE", Argument::kText, 4, "a str"},
    {0x43, "SHORT_BINBYTES", Argument::kBytes, 1, "bytes"},
    {0x42, "BINBYTES", Argument::kBytes, 4, "bytes"},
    {0x94, "MEMOIZE", Argument::kNone, 0, "remember the top of the stack under the next number"},
    {0x68, "BINGET", Argument::kNumber, 1, "what is remembered under this number"},
    {0x93, "STACK_GLOBAL", Argument::kNone, 0, "the class or dtype of these two names"},
    {0x29, "EMPTY_TUPLE", Argument::kNone, 0, "()"},
    {0x81, "NEWOBJ", Argument::kNone, 0, "an object of that class, without attributes yet"},
    {0x7d, "EMPTY_DICT", Argument::kNone, 0, "{}"},
    {0x28, "MARK", Argument::kNone, 0, "a mark on the stack"},
    {0x4b, "BININT1", Argument::kNumber, 1, "an int"},
    {0x4d, "BININT2", Argument::kNumber, 2, "an int"},
    {0x4a, "BININT", Argument::kNumber, 4, "an int"},
    {0x8a, "LONG1", Argument::kBytes, 1, "an int, little-endian"},
    {0x88, "NEWTRUE", Argument::kNone, 0, "True"},
    {0x89, "NEWFALSE", Argument::kNone, 0, "False"},
    {0x4e, "NONE", Argument::kNone, 0, "None"},
    {0x85, "TUPLE1", Argument::kNone, 0, "a tuple of the last one"},
    {0x86, "TUPLE2", Argument::kNone, 0, "a tuple of the last two"},
    {0x87, "TUPLE3", Argument::kNone, 0, "a tuple of the last three"},
    {0x74, "TUPLE", Argument::kNone, 0, "a tuple of all since the mark"},
    {0x73, "SETITEM", Argument::kNone, 0, "a pair goes into the dict"},
    {0x75, "SETITEMS", Argument::kNone, 0, "all pairs since the mark go into the dict"},
    {0x62, "BUILD", Argument::kNone, 0, "the dict becomes the object's attributes"},
    {0x2e, "STOP", Argument::kNone, 0, "the end"},
};

std::uint64_t little_endian(ByteView bytes) {
  std::uint64_t out = 0;
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) out = out << 8U | *byte;
  return out;
}

}  // namespace

std::vector<AnnotatedLine> annotate_pickle(ByteView pickle) {
  std::vector<AnnotatedLine> lines;
  std::size_t at = 0;
  const auto take = [&](std::size_t count) {
    if (count > pickle.size() - at) throw std::runtime_error("the pickle is cut");
    const ByteView out = pickle.subspan(at, count);
    at += count;
    return out;
  };
  while (at < pickle.size()) {
    const std::size_t from = at;
    const ByteView code = take(1);
    const auto* opcode = std::find_if(std::begin(kOpcodes), std::end(kOpcodes),
                                      [&](const Opcode& one) { return one.code == code[0]; });
    if (opcode == std::end(kOpcodes))
      throw std::runtime_error(fmt::format("opcode {:02x} is not in the table", code[0]));
    const ByteView number = take(opcode->width);
    std::string hex = to_hex(code) + (number.empty() ? "" : " " + to_hex(number));
    std::string meaning = fmt::format("{}  {}", opcode->name, opcode->meaning);
    if (opcode->argument == Argument::kNumber) {
      meaning += fmt::format(": {}", little_endian(number));
    } else if (opcode->argument != Argument::kNone) {
      const ByteView body = take(little_endian(number));
      if (!body.empty()) hex += " " + to_hex(body.first(std::min(body.size(), kHexBytesMax)));
      if (body.size() > kHexBytesMax) hex += "…";
      meaning += opcode->argument == Argument::kText
                     ? ": \"" + std::string(body.begin(), body.end()) + "\""
                     : fmt::format(": {} of them", body.size());
    }
    lines.push_back({from, at - from, 0, hex, meaning});
  }
  return lines;
}

}  // namespace kvc::conformance
