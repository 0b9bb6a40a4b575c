// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <concepts>

#include "kvc/protocol/assert.h"
#include "kvc/protocol/pickle.h"
#include "pickle_names.h"

namespace kvc {
namespace {

// Writes what CPython's C pickler writes in protocol 4, memo opcodes and all, so that the bytes of
// a tensor are those of the real client.
class PickleWriter {
 public:
  Bytes finish() && {
    out_.push_back('.');
    Bytes framed = {0x80, 4, 0x95};
    append_little_endian(framed, static_cast<std::uint64_t>(out_.size()));
    framed.insert(framed.end(), out_.begin(), out_.end());
    return framed;
  }

  void opcode(std::uint8_t code) { out_.push_back(code); }

  // Python's pickler makes every str, bytes, tuple and object recallable, whether or not it will
  // be.
  void memoize() { out_.push_back(0x94); }

  void global(std::string_view module, std::string_view name) {
    text(module);
    text(name);
    opcode(0x93);
    memoize();
  }

  void text(std::string_view value) {
    if (value.size() <= 0xff) {
      opcode(0x8c);
      out_.push_back(static_cast<std::uint8_t>(value.size()));
    } else {
      opcode('X');
      append_little_endian(out_, length_of(value.size()));
    }
    append(as_bytes(value));
    memoize();
  }

  void bytes(ByteView value) {
    if (value.size() <= 0xff) {
      opcode('C');
      out_.push_back(static_cast<std::uint8_t>(value.size()));
    } else {
      opcode('B');
      append_little_endian(out_, length_of(value.size()));
    }
    append(value);
    memoize();
  }

  void boolean(bool value) { opcode(value ? 0x88 : 0x89); }

  void integer(Int value) {
    const std::uint64_t bits = value.bits();
    if (!value.is_negative() && bits <= 0xff) {
      opcode('K');
      out_.push_back(static_cast<std::uint8_t>(bits));
    } else if (!value.is_negative() && bits <= 0xffff) {
      opcode('M');
      append_little_endian(out_, static_cast<std::uint16_t>(bits));
    } else if (fits_i32(value)) {
      opcode('J');
      append_little_endian(out_, static_cast<std::uint32_t>(bits));
    } else {
      long_integer(value);
    }
  }

  void integers(const std::vector<Int>& values) {
    if (values.empty()) {
      opcode(')');
      return;
    }
    if (values.size() > 3) opcode('(');
    for (const Int value : values) integer(value);
    if (values.size() > 3) {
      opcode('t');
    } else {
      opcode(static_cast<std::uint8_t>(0x84 + values.size()));  // TUPLE1 to TUPLE3
    }
    memoize();
  }

 private:
  static bool fits_i32(Int value) {
    const std::optional<std::int64_t> number = value.as_i64();
    return number.has_value() && *number >= INT32_MIN && *number <= INT32_MAX;
  }

  static std::uint32_t length_of(std::size_t size) {
    KVC_ASSERT(size <= UINT32_MAX);
    return static_cast<std::uint32_t>(size);
  }

  template <std::unsigned_integral T>
  static void append_little_endian(Bytes& out, T value) {
    for (std::size_t i = 0; i < sizeof value; ++i) {
      out.push_back(static_cast<std::uint8_t>(std::uint64_t{value} >> (8 * i)));
    }
  }

  void append(ByteView bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }

  // The fewest bytes of two's complement that keep the sign.
  void long_integer(Int value) {
    Bytes digits;
    append_little_endian(digits, value.bits());
    digits.push_back(value.is_negative() ? 0xff : 0x00);
    while (digits.size() > 1) {
      const std::uint8_t sign = digits.back();
      const bool next_is_negative = digits[digits.size() - 2] >= 0x80;
      if (!(sign == 0x00 && !next_is_negative) && !(sign == 0xff && next_is_negative)) break;
      digits.pop_back();
    }
    opcode(0x8a);
    out_.push_back(static_cast<std::uint8_t>(digits.size()));
    append(digits);
  }

  Bytes out_;
};

void write_handle(PickleWriter& writer, const TorchIpcHandle& handle) {
  writer.text("handle");
  writer.opcode('(');
  writer.integer(handle.device);
  writer.bytes(handle.handle);
  writer.integer(handle.storage_size_bytes);
  writer.integer(handle.storage_offset_bytes);
  writer.bytes(handle.ref_counter_handle);
  writer.integer(handle.ref_counter_offset);
  writer.bytes(handle.event_handle);
  writer.boolean(handle.event_sync_required);
  writer.opcode('t');
  writer.memoize();
}

void write_handle(PickleWriter& writer, const RawIpcHandle& handle) {
  writer.text("_ipc_handle_reserved");
  writer.bytes(handle.handle);
  writer.text("_nbytes");
  writer.integer(handle.nbytes);
  writer.text("handle");
  writer.opcode('N');
}

}  // namespace

Bytes write_pickle(const IpcTensor& tensor) {
  const bool is_raw = std::holds_alternative<RawIpcHandle>(tensor.handle);
  PickleWriter writer;
  writer.global(kWrapperModule, is_raw ? kRawWrapper : kTorchWrapper);
  writer.opcode(')');
  writer.opcode(0x81);  // NEWOBJ
  writer.memoize();
  writer.opcode('}');
  writer.memoize();
  writer.opcode('(');
  std::visit([&](const auto& handle) { write_handle(writer, handle); }, tensor.handle);
  writer.text("dtype");
  writer.global(kTorchModule, tensor.dtype);
  writer.text("shape");
  writer.integers(tensor.shape);
  writer.text("stride");
  writer.integers(tensor.stride);
  writer.text("storage_offset");
  writer.integer(tensor.storage_offset);
  writer.text("device_uuid");
  writer.text(tensor.device_uuid);
  writer.opcode('u');
  writer.opcode('b');
  return std::move(writer).finish();
}

}  // namespace kvc
