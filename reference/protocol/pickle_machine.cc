// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "pickle_machine.h"

#include <algorithm>
#include <utility>

#include "big_endian.h"
#include "kvc/protocol/limits.h"
#include "pickle_names.h"
#include "utf8.h"

namespace kvc {
namespace {

// Opcodes, by CPython's names for them (pickletools). These are all that its two picklers write for
// the two wrappers in protocols 2 to 5.
enum Opcode : std::uint8_t {
  kOpMark = '(',
  kOpStop = '.',
  kOpBinInt = 'J',
  kOpBinInt1 = 'K',
  kOpBinInt2 = 'M',
  kOpNone = 'N',
  kOpReduce = 'R',
  kOpBinUnicode = 'X',
  kOpBuild = 'b',
  kOpGlobal = 'c',
  kOpBinGet = 'h',
  kOpLongBinGet = 'j',
  kOpBinPut = 'q',
  kOpLongBinPut = 'r',
  kOpSetItem = 's',
  kOpTuple = 't',
  kOpSetItems = 'u',
  kOpEmptyDict = '}',
  kOpEmptyTuple = ')',
  kOpBinBytes = 'B',
  kOpShortBinBytes = 'C',
  kOpProto = 0x80,
  kOpNewObj = 0x81,
  kOpTuple1 = 0x85,
  kOpTuple2 = 0x86,
  kOpTuple3 = 0x87,
  kOpNewTrue = 0x88,
  kOpNewFalse = 0x89,
  kOpLong1 = 0x8a,
  kOpShortBinUnicode = 0x8c,
  kOpBinUnicode8 = 0x8d,
  kOpBinBytes8 = 0x8e,
  kOpStackGlobal = 0x93,
  kOpMemoize = 0x94,
  kOpFrame = 0x95,
};

constexpr std::string_view kEncodeFunction = "_codecs.encode";
constexpr std::string_view kBytesFunction = "bytes";

// "café" in UTF-8 to the bytes of latin-1. False where a character is no byte.
bool to_latin1(std::string_view text, Bytes& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<std::uint8_t>(text[i]);
    if (lead < 0x80) {
      out.push_back(lead);
    } else if (lead <= 0xc3) {  // two bytes, U+0080 to U+00FF
      const auto second = static_cast<std::uint8_t>(text[++i]);
      out.push_back(static_cast<std::uint8_t>((lead << 6) | (second & 0x3f)));
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

const char* PickleObject::kind_name() const {
  constexpr const char* kNames[] = {"NoneType", "bool",      "int",       "str",
                                    "bytes",    "tuple",     "dict",      "dtype",
                                    "a class",  "an object", "a function"};
  return kNames[static_cast<std::size_t>(kind)];
}

PickleMachine::PickleMachine(ByteView pickle)
    : begin_(pickle.data()), at_(pickle.data()), end_(pickle.data() + pickle.size()) {}

bool PickleMachine::fail(Errc code, std::string message) {
  error_ = {code, "$", std::move(message)};
  return false;
}

bool PickleMachine::take(std::size_t num_bytes, ByteView& out) {
  if (num_bytes > static_cast<std::size_t>(end_ - at_)) {
    return fail(Errc::kTruncated, "the pickle ends inside an opcode");
  }
  out = {at_, num_bytes};
  at_ += num_bytes;
  return true;
}

bool PickleMachine::take_size(std::size_t num_bytes, std::size_t& out) {
  ByteView bytes;
  if (!take(num_bytes, bytes)) return false;
  out = 0;
  for (std::size_t i = 0; i < num_bytes; ++i) out |= std::size_t{bytes[i]} << (8 * i);
  return true;
}

bool PickleMachine::take_line(std::string_view& out) {
  const std::uint8_t* newline = std::find(at_, end_, '\n');
  if (newline == end_) return fail(Errc::kTruncated, "the pickle ends inside an opcode");
  out = as_text({at_, newline});
  at_ = newline + 1;
  return true;
}

// Frames tell a reader how much to fetch at once. They hold whole opcodes and do not nest.
bool PickleMachine::open_frame() {
  std::size_t size = 0;
  if (frame_end_ != nullptr) return fail(Errc::kMalformed, "a frame within a frame");
  if (!take_size(8, size)) return false;
  if (size > static_cast<std::size_t>(end_ - at_)) {
    return fail(Errc::kTruncated, "a frame ends behind the pickle");
  }
  frame_end_ = at_ + size;
  return true;
}

bool PickleMachine::push(std::size_t index) {
  if (stack_.size() == limits::kPickleStackMax) {
    return fail(Errc::kLimit, "the pickle needs a deeper stack than any wrapper does");
  }
  stack_.push_back(index);
  return true;
}

bool PickleMachine::push_new(PickleObject object) {
  objects_.push_back(std::move(object));
  return push(objects_.size() - 1);
}

bool PickleMachine::push_number(std::size_t num_bytes, bool is_signed) {
  ByteView bytes;
  if (!take(num_bytes, bytes)) return false;
  const bool negative = is_signed && num_bytes > 0 && bytes[num_bytes - 1] >= 0x80;
  std::uint64_t bits = negative ? ~std::uint64_t{0} : 0;
  for (std::size_t i = 0; i < num_bytes; ++i) {
    if (i >= sizeof bits) {  // only the sign may be here
      if (bytes[i] != (negative ? 0xff : 0x00)) return fail(Errc::kLimit, "an int above 64 bits");
      continue;
    }
    bits &= ~(std::uint64_t{0xff} << (8 * i));
    bits |= std::uint64_t{bytes[i]} << (8 * i);
  }
  if (negative && bits < (std::uint64_t{1} << 63))
    return fail(Errc::kLimit, "an int above 64 bits");
  PickleObject object{.kind = Kind::kInt};
  object.number = negative ? Int(static_cast<std::int64_t>(bits)) : Int(bits);
  return push_new(std::move(object));
}

bool PickleMachine::push_text(std::size_t size_bytes) {
  std::size_t size = 0;
  ByteView bytes;
  if (!take_size(size_bytes, size) || !take(size, bytes)) return false;
  if (!is_utf8(as_text(bytes))) return fail(Errc::kBadUtf8, "a str that is no UTF-8");
  PickleObject object{.kind = Kind::kStr};
  object.text = as_text(bytes);
  return push_new(std::move(object));
}

bool PickleMachine::push_bytes(std::size_t size_bytes) {
  std::size_t size = 0;
  PickleObject object{.kind = Kind::kBytes};
  if (!take_size(size_bytes, size) || !take(size, object.seen_bytes)) return false;
  return push_new(std::move(object));
}

bool PickleMachine::deepen(std::size_t container, std::size_t item) {
  PickleObject& outer = objects_[container];
  outer.depth = std::max(outer.depth, objects_[item].depth + 1);
  return outer.depth <= limits::kPickleDepthMax ||
         fail(Errc::kLimit, "the pickle nests deeper than any wrapper does");
}

bool PickleMachine::push_tuple(std::size_t num_items) {
  std::vector<std::size_t> items(num_items);
  for (std::size_t i = num_items; i > 0; --i) {
    if (!pop(items[i - 1])) return false;
  }
  objects_.push_back({.kind = Kind::kTuple, .items = std::move(items)});
  const std::size_t tuple = objects_.size() - 1;
  for (const std::size_t item : objects_[tuple].items) {
    if (!deepen(tuple, item)) return false;
  }
  return push(tuple);
}

bool PickleMachine::push_global(std::string_view module, std::string_view name) {
  PickleObject object{.kind = Kind::kClass, .text = name};
  if (module == kWrapperModule && (name == kTorchWrapper || name == kRawWrapper)) {
    return push_new(std::move(object));
  }
  if (module == kTorchModule && is_torch_dtype(name)) {
    object.kind = Kind::kDtype;
    return push_new(std::move(object));
  }
  // Protocol 2 has no bytes: it writes _codecs.encode("…", "latin1"), and bytes() for empty ones.
  object.kind = Kind::kFunction;
  if (module == "_codecs" && name == "encode") {
    object.text = kEncodeFunction;
    return push_new(std::move(object));
  }
  if ((module == "__builtin__" || module == "builtins") && name == "bytes") {
    object.text = kBytesFunction;
    return push_new(std::move(object));
  }
  const auto printable = [](std::string_view text) {
    std::string shown(text.substr(0, 60));
    std::ranges::replace_if(
        shown, [](char c) { return c < 0x20 || c > 0x7e; }, '?');
    return shown;
  };
  return fail(Errc::kForbidden,
              "global " + printable(module) + "." + printable(name) + " is not allowed");
}

bool PickleMachine::pop(std::size_t& out) {
  if (stack_.empty() || stack_.back() == kMark) {
    return fail(Errc::kMalformed, "an opcode finds too little on the pickle's stack");
  }
  out = stack_.back();
  stack_.pop_back();
  return true;
}

bool PickleMachine::pop_mark(std::vector<std::size_t>& out) {
  const auto mark = std::find(stack_.rbegin(), stack_.rend(), kMark);
  if (mark == stack_.rend()) return fail(Errc::kMalformed, "an opcode finds no mark");
  out.assign(mark.base(), stack_.end());
  stack_.erase(mark.base() - 1, stack_.end());
  return true;
}

bool PickleMachine::remember(std::size_t key) {
  if (stack_.empty() || stack_.back() == kMark) {
    return fail(Errc::kMalformed, "the memo takes from an empty stack");
  }
  if (key >= limits::kPickleMemoMax) return fail(Errc::kLimit, "the pickle needs a larger memo");
  if (memo_.size() <= key) memo_.resize(key + 1);
  memo_[key] = stack_.back();
  return true;
}

bool PickleMachine::recall(std::size_t key) {
  if (key >= memo_.size() || !memo_[key].has_value()) {
    return fail(Errc::kMalformed, "nothing stands at " + std::to_string(key) + " of the memo");
  }
  return push(*memo_[key]);
}

bool PickleMachine::set_items(const std::vector<std::size_t>& items) {
  if (items.size() % 2 != 0) return fail(Errc::kMalformed, "a dict's key without value");
  if (stack_.empty() || stack_.back() == kMark || objects_[stack_.back()].kind != Kind::kDict) {
    return fail(Errc::kMalformed, "items for what is no dict");
  }
  const std::size_t dict = stack_.back();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i % 2 == 0 && objects_[items[i]].kind != Kind::kStr) {
      return fail(Errc::kForbidden, "a dict's key that is no str");
    }
    if (!deepen(dict, items[i])) return false;
    objects_[dict].items.push_back(items[i]);
  }
  return true;
}

// cls.__new__(cls): an object without attributes yet.
bool PickleMachine::new_instance() {
  std::size_t arguments = 0;
  std::size_t cls = 0;
  if (!pop(arguments) || !pop(cls)) return false;
  if (objects_[cls].kind != Kind::kClass || objects_[arguments].kind != Kind::kTuple ||
      !objects_[arguments].items.empty()) {
    return fail(Errc::kForbidden, "NEWOBJ of anything but a bare wrapper is not allowed");
  }
  return push_new({.kind = Kind::kInstance, .items = {cls}});
}

// The two calls by which protocol 2 spells bytes; their result is known without calling.
bool PickleMachine::reduce() {
  std::size_t arguments = 0;
  std::size_t function = 0;
  if (!pop(arguments) || !pop(function)) return false;
  const PickleObject& callee = objects_[function];
  const std::vector<std::size_t>& items = objects_[arguments].items;
  const bool is_call = callee.kind == Kind::kFunction && objects_[arguments].kind == Kind::kTuple;
  if (is_call && callee.text == kBytesFunction && items.empty()) {
    return push_new({.kind = Kind::kBytes});
  }
  if (is_call && callee.text == kEncodeFunction && items.size() == 2 &&
      objects_[items[0]].kind == Kind::kStr && objects_[items[1]].kind == Kind::kStr &&
      objects_[items[1]].text == "latin1") {
    PickleObject object{.kind = Kind::kBytes};
    if (!to_latin1(objects_[items[0]].text, object.made_bytes)) {
      return fail(Errc::kMalformed, "bytes with a character above 255");
    }
    return push_new(std::move(object));
  }
  return fail(Errc::kForbidden, "REDUCE, a call, is not allowed");
}

bool PickleMachine::build() {
  std::size_t state = 0;
  if (!pop(state)) return false;
  if (stack_.empty() || stack_.back() == kMark) return fail(Errc::kMalformed, "BUILD of nothing");
  PickleObject& instance = objects_[stack_.back()];
  if (instance.kind != Kind::kInstance || instance.items.size() != 1 ||
      objects_[state].kind != Kind::kDict) {
    return fail(Errc::kForbidden, "BUILD of anything but a wrapper from a dict is not allowed");
  }
  instance.items.push_back(state);
  return deepen(stack_.back(), state);
}

bool PickleMachine::step(std::uint8_t opcode) {
  std::size_t number = 0;
  std::size_t other = 0;
  std::string_view module;
  std::string_view name;
  std::vector<std::size_t> items;
  switch (opcode) {
    case kOpFrame:
      return open_frame();
    case kOpNone:
      return push_new({.kind = Kind::kNone});
    case kOpNewTrue:
    case kOpNewFalse:
      return push_new({.kind = Kind::kBool, .truth = opcode == kOpNewTrue});
    case kOpBinInt:
      return push_number(4, true);
    case kOpBinInt1:
      return push_number(1, false);
    case kOpBinInt2:
      return push_number(2, false);
    case kOpLong1:
      return take_size(1, number) && push_number(number, true);
    case kOpShortBinUnicode:
      return push_text(1);
    case kOpBinUnicode:
      return push_text(4);
    case kOpBinUnicode8:
      return push_text(8);
    case kOpShortBinBytes:
      return push_bytes(1);
    case kOpBinBytes:
      return push_bytes(4);
    case kOpBinBytes8:
      return push_bytes(8);
    case kOpMark:
      return push(kMark);
    case kOpEmptyTuple:
      return push_tuple(0);
    case kOpTuple1:
      return push_tuple(1);
    case kOpTuple2:
      return push_tuple(2);
    case kOpTuple3:
      return push_tuple(3);
    case kOpTuple:
      if (!pop_mark(items)) return false;
      stack_.insert(stack_.end(), items.begin(), items.end());
      return push_tuple(items.size());
    case kOpEmptyDict:
      return push_new({.kind = Kind::kDict});
    case kOpSetItem:
      items.resize(2);
      return pop(items[1]) && pop(items[0]) && set_items(items);
    case kOpSetItems:
      return pop_mark(items) && set_items(items);
    case kOpGlobal:
      return take_line(module) && take_line(name) && push_global(module, name);
    case kOpStackGlobal:
      if (!pop(other) || !pop(number)) return false;
      if (objects_[number].kind != Kind::kStr || objects_[other].kind != Kind::kStr) {
        return fail(Errc::kMalformed, "a global whose name is no str");
      }
      return push_global(objects_[number].text, objects_[other].text);
    case kOpNewObj:
      return new_instance();
    case kOpReduce:
      return reduce();
    case kOpBuild:
      return build();
    case kOpBinPut:
      return take_size(1, number) && remember(number);
    case kOpLongBinPut:
      return take_size(4, number) && remember(number);
    case kOpMemoize:
      return remember(num_remembered_++);
    case kOpBinGet:
      return take_size(1, number) && recall(number);
    case kOpLongBinGet:
      return take_size(4, number) && recall(number);
    default:
      return fail(Errc::kForbidden, "opcode " + to_hex({&opcode, 1}) + " at byte " +
                                        std::to_string(at_ - begin_ - 1) + " is not allowed");
  }
}

Result<std::size_t> PickleMachine::run() {
  const auto size = static_cast<std::size_t>(end_ - at_);
  if (size > limits::kPickleBytesMax) {
    fail(Errc::kLimit, "a pickle of " + std::to_string(size) + " bytes; a wrapper has about 500");
    return error_;
  }
  ByteView start;
  if (!take(2, start)) return error_;
  if (start[0] != kOpProto || start[1] < 2 || start[1] > 5) {
    fail(Errc::kMalformed, "no pickle of protocol 2 to 5");
    return error_;
  }
  while (true) {
    ByteView opcode;
    if (frame_end_ == at_) frame_end_ = nullptr;
    if (!take(1, opcode)) return error_;
    if (opcode[0] != kOpStop && !step(opcode[0])) return error_;
    if (frame_end_ != nullptr && at_ > frame_end_) {
      fail(Errc::kMalformed, "a frame ends inside an opcode");
      return error_;
    }
    if (opcode[0] == kOpStop) break;
  }
  // What follows STOP is nobody's: pickle.loads leaves it unread, and so do we.
  std::size_t top = 0;
  if (!pop(top)) return error_;
  if (!stack_.empty()) {
    fail(Errc::kMalformed, "the pickle leaves more than one object");
    return error_;
  }
  return top;
}

}  // namespace kvc
