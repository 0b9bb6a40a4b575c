// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Pickle builder: pickles by hand, opcode by opcode, honest or not, independent of the reader and
// the writer under reference/. Each value function gives the opcodes that push one value;
// document() makes a whole pickle of them. Nothing is run here. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/values.h"

namespace kvc::conformance::pkl {

using Attribute = std::pair<std::string_view, Bytes>;  // name and value of an object's state

Bytes none();
Bytes boolean(bool value);
Bytes integer(std::int64_t value);
Bytes str(std::string_view text);
Bytes bytes(ByteView value);
Bytes real(double value);
Bytes list(const std::vector<Bytes>& elements);
Bytes tuple(const std::vector<Bytes>& elements);
Bytes dict(const std::vector<Attribute>& items);

// A class or function by name: GLOBAL of protocol 2, STACK_GLOBAL of protocol 4.
Bytes global(std::string_view module, std::string_view name);
Bytes stack_global(std::string_view module, std::string_view name);

// NEWOBJ of `what` without arguments, then BUILD with the state: how Python pickles plain objects.
Bytes object(const Bytes& what, const std::vector<Attribute>& state);

// REDUCE: Python calls `function` with the arguments while it reads. The canaries are made of it.
Bytes call(const Bytes& function, const std::vector<Bytes>& arguments);

// The value, kept in the memo (MEMOIZE), and the memo's entry `index` (BINGET).
Bytes memoized(const Bytes& value);
Bytes memo_get(std::uint8_t index);

// PROTO, the value, STOP; with a FRAME around the last two, as CPython writes protocol 4.
Bytes framed(const Bytes& value);
// PROTO, the value, STOP.
Bytes document(const Bytes& value, std::uint8_t protocol = 4);

// The class that a wrapper has on this wire.
inline constexpr std::string_view kWrapperModule = "lmcache.v1.multiprocess.custom_types";
inline constexpr std::string_view kCudaWrapper = "CudaIPCWrapper";
inline constexpr std::string_view kRawWrapper = "RawCudaIPCWrapper";

// The state of a wrapper, attribute by attribute, so that one can be replaced.
std::vector<Attribute> wrapper_state(const IpcTensor& tensor);
// The elements of torch's 8-tuple.
std::vector<Bytes> torch_handle(const TorchIpcHandle& handle);
Bytes wrapper(const IpcTensor& tensor, std::uint8_t protocol = 4);

}  // namespace kvc::conformance::pkl
