// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/pickle_builder.h"

#include <bit>
#include <string>

#include "kvc/protocol/assert.h"

namespace kvc::conformance::pkl {
namespace {

void append(Bytes& out, ByteView more) { out.insert(out.end(), more.begin(), more.end()); }
void append(Bytes& out, std::string_view more) { append(out, as_bytes(more)); }

void append_little_endian(Bytes& out, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i)
    out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

// LONG1: two's complement, as few bytes as hold it.
Bytes long1(std::int64_t value) {
  Bytes digits;
  append_little_endian(digits, static_cast<std::uint64_t>(value), 8);
  const std::uint8_t sign = value < 0 ? 0xff : 0x00;
  while (digits.size() > 1 && digits.back() == sign &&
         (digits[digits.size() - 2] & 0x80) == (sign & 0x80))
    digits.pop_back();
  Bytes out{0x8a, static_cast<std::uint8_t>(digits.size())};
  append(out, digits);
  return out;
}

std::int64_t small(Int value) {
  const auto number = value.as_i64();
  KVC_ASSERT(number.has_value());
  return *number;
}

std::vector<Bytes> integers(const std::vector<Int>& values) {
  std::vector<Bytes> out;
  for (Int value : values) out.push_back(integer(small(value)));
  return out;
}

}  // namespace

Bytes none() { return {'N'}; }
Bytes boolean(bool value) { return {static_cast<std::uint8_t>(value ? 0x88 : 0x89)}; }

Bytes integer(std::int64_t value) {
  Bytes out;
  if (value >= 0 && value < 0x100) {
    out.push_back('K');  // BININT1
    append_little_endian(out, static_cast<std::uint64_t>(value), 1);
  } else if (value >= 0 && value < 0x10000) {
    out.push_back('M');  // BININT2
    append_little_endian(out, static_cast<std::uint64_t>(value), 2);
  } else if (value == static_cast<std::int32_t>(value)) {
    out.push_back('J');  // BININT
    append_little_endian(out, static_cast<std::uint64_t>(value), 4);
  } else {
    out = long1(value);
  }
  return out;
}

Bytes str(std::string_view text) {
  Bytes out{'X'};  // BINUNICODE: in all protocols from 1
  append_little_endian(out, text.size(), 4);
  append(out, text);
  return out;
}

Bytes bytes(ByteView value) {
  Bytes out{'B'};  // BINBYTES
  append_little_endian(out, value.size(), 4);
  append(out, value);
  return out;
}

Bytes real(double value) {
  Bytes out{'G'};  // BINFLOAT, the only big-endian opcode
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 56; shift >= 0; shift -= 8)
    out.push_back(static_cast<std::uint8_t>(bits >> shift));
  return out;
}

Bytes list(const std::vector<Bytes>& elements) {
  Bytes out{']', '('};
  for (const Bytes& element : elements) append(out, element);
  out.push_back('e');  // APPENDS
  return out;
}

Bytes tuple(const std::vector<Bytes>& elements) {
  if (elements.empty()) return {')'};
  Bytes out{'('};
  for (const Bytes& element : elements) append(out, element);
  out.push_back('t');
  return out;
}

Bytes dict(const std::vector<Attribute>& items) {
  Bytes out{'}', '('};
  for (const Attribute& item : items) {
    append(out, str(item.first));
    append(out, item.second);
  }
  out.push_back('u');  // SETITEMS
  return out;
}

Bytes global(std::string_view module, std::string_view name) {
  Bytes out{'c'};
  append(out, module);
  out.push_back('\n');
  append(out, name);
  out.push_back('\n');
  return out;
}

Bytes stack_global(std::string_view module, std::string_view name) {
  Bytes out = str(module);
  append(out, str(name));
  out.push_back(0x93);
  return out;
}

Bytes object(const Bytes& what, const std::vector<Attribute>& state) {
  Bytes out = what;
  out.push_back(')');
  out.push_back(0x81);  // NEWOBJ
  append(out, dict(state));
  out.push_back('b');  // BUILD
  return out;
}

Bytes call(const Bytes& function, const std::vector<Bytes>& arguments) {
  Bytes out = function;
  append(out, tuple(arguments));
  out.push_back('R');
  return out;
}

Bytes memoized(const Bytes& value) {
  Bytes out = value;
  out.push_back(0x94);
  return out;
}

Bytes memo_get(std::uint8_t index) { return {'h', index}; }

Bytes framed(const Bytes& value) {
  Bytes out{0x80, 4, 0x95};
  append_little_endian(out, value.size() + 1, 8);
  append(out, value);
  out.push_back('.');
  return out;
}

Bytes document(const Bytes& value, std::uint8_t protocol) {
  Bytes out{0x80, protocol};
  append(out, value);
  out.push_back('.');
  return out;
}

std::vector<Bytes> torch_handle(const TorchIpcHandle& handle) {
  return {integer(small(handle.device)),
          bytes(handle.handle),
          integer(small(handle.storage_size_bytes)),
          integer(small(handle.storage_offset_bytes)),
          bytes(handle.ref_counter_handle),
          integer(small(handle.ref_counter_offset)),
          bytes(handle.event_handle),
          boolean(handle.event_sync_required)};
}

std::vector<Attribute> wrapper_state(const IpcTensor& tensor) {
  std::vector<Attribute> state;
  if (const auto* torch = std::get_if<TorchIpcHandle>(&tensor.handle)) {
    state.emplace_back("handle", tuple(torch_handle(*torch)));
  } else {
    const auto& bare = std::get<RawIpcHandle>(tensor.handle);
    state.emplace_back("_ipc_handle_reserved", bytes(bare.handle));
    state.emplace_back("_nbytes", integer(small(bare.nbytes)));
    state.emplace_back("handle", none());
  }
  state.emplace_back("dtype", global("torch", tensor.dtype));
  state.emplace_back("shape", tuple(integers(tensor.shape)));
  state.emplace_back("stride", tuple(integers(tensor.stride)));
  state.emplace_back("storage_offset", integer(small(tensor.storage_offset)));
  state.emplace_back("device_uuid", str(tensor.device_uuid));
  return state;
}

Bytes wrapper(const IpcTensor& tensor, std::uint8_t protocol) {
  const std::string_view name =
      std::holds_alternative<TorchIpcHandle>(tensor.handle) ? kCudaWrapper : kRawWrapper;
  const Bytes what =
      protocol >= 4 ? stack_global(kWrapperModule, name) : global(kWrapperModule, name);
  return document(object(what, wrapper_state(tensor)), protocol);
}

}  // namespace kvc::conformance::pkl
