// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// PickleMachine: runs the opcodes of a pickle that may stand in one of ours, and builds plain data
// from them: no class is looked up and nothing is called. Whatever else is there is kForbidden.
// Views see the pickle, which must outlive the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/int.h"
#include "kvc/protocol/result.h"

namespace kvc {

// An object of the pickle. References to others are indices into the machine's list of objects.
struct PickleObject {
  enum class Kind {
    kNone,
    kBool,
    kInt,
    kStr,
    kBytes,
    kTuple,
    kDict,
    kDtype,
    kClass,
    kInstance,
    kFunction
  };

  Kind kind = Kind::kNone;
  bool truth = false;          // kBool
  Int number = 0;              // kInt
  std::string_view text = {};  // kStr; kDtype, kClass, kFunction: the name
  ByteView seen_bytes = {};    // kBytes: in the pickle
  Bytes made_bytes = {};       // kBytes of protocol 2: made from a str
  std::vector<std::size_t> items =
      {};                 // kTuple; kDict: key, value, key, value; kInstance: class, dict
  std::size_t depth = 0;  // of the tuples and dicts within

  ByteView bytes() const { return made_bytes.empty() ? seen_bytes : ByteView(made_bytes); }
  const char* kind_name() const;  // as Python says it: "NoneType", "int"
};

class PickleMachine {
 public:
  explicit PickleMachine(ByteView pickle);

  // The index of the object that the pickle holds.
  Result<std::size_t> run();

  const PickleObject& object(std::size_t index) const { return objects_[index]; }

 private:
  using Kind = PickleObject::Kind;

  // Each answers false after it has set error_.
  bool step(std::uint8_t opcode);
  bool fail(Errc code, std::string message);
  bool take(std::size_t num_bytes, ByteView& out);
  bool take_size(std::size_t num_bytes, std::size_t& out);
  bool take_line(std::string_view& out);
  bool open_frame();
  bool push(std::size_t index);
  bool push_new(PickleObject object);
  bool push_number(std::size_t num_bytes, bool is_signed);
  bool push_text(std::size_t size_bytes);
  bool push_bytes(std::size_t size_bytes);
  bool push_tuple(std::size_t num_items);
  bool push_global(std::string_view module, std::string_view name);
  bool pop(std::size_t& out);
  bool pop_mark(std::vector<std::size_t>& out);
  bool remember(std::size_t key);
  bool recall(std::size_t key);
  bool set_items(const std::vector<std::size_t>& items);
  bool new_instance();
  bool reduce();
  bool build();
  bool deepen(std::size_t container, std::size_t item);

  static constexpr std::size_t kMark = static_cast<std::size_t>(-1);

  const std::uint8_t* begin_;
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  const std::uint8_t* frame_end_ = nullptr;  // of the frame around at_; null outside of one
  std::vector<PickleObject> objects_;
  std::vector<std::size_t> stack_;  // indices of objects, or kMark
  std::vector<std::optional<std::size_t>> memo_;
  std::size_t num_remembered_ = 0;
  Error error_;
};

}  // namespace kvc
