// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Codec: frames to values and back, with the strictness of the real decoder (msgspec, measured on
// lmcache 0.4.5) and the bytes of the real encoder. A frame is one complete msgpack document.
//
// decode<T> never throws, and copies no IntArray: its result sees the frame (int_array.h). Errors
// name the place: "$.token_ids[3]: expected int, got str". encode<T> appends to `out`.
// Pure functions; any thread.
#pragma once

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/result.h"
#include "kvc/protocol/values.h"
#include "kvc/protocol/wire_type.h"

namespace kvc {

// Defined for every T that has a WireTypeOf.
template <class T>
Result<T> decode(ByteView frame);

// decode<None> accepts nil only; encode<None> writes nil. (On the wire None has no frame at all:
// that is the envelope's business.)
template <class T>
void encode(const T& value, Bytes& out);

template <class T>
Bytes encoded(const T& value) {
  Bytes out;
  encode(value, out);
  return out;
}

// The same, with the type known at run time only.
Result<Value> decode_value(WireType type, ByteView frame);
Bytes encode_value(const Value& value);
WireType type_of(const Value& value);

// A value in words, for people: `Key{model_name="m", …}`; long arrays and bytes are cut short.
std::string describe(const Value& value);

}  // namespace kvc
