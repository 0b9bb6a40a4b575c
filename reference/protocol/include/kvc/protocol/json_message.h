// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// JSON messages in msgpack, as the testee pipe has them (conformance/testee/README.md): maps with
// str keys, bytes as binary. Whatever the bytes are, reading them neither throws nor overflows the
// stack. Part of kvc::typed_json. Pure functions; any thread.
#pragma once

#include <optional>

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/typed_json.h"

namespace kvc {

Bytes write_message(const Json& message);

// Nothing where the bytes are no message: cut, trailing, other keys than str, or nested too deep.
std::optional<Json> read_message(ByteView bytes);

// A value in typed JSON as a message has it: {"bytes": …} is binary, {"int": …} a number, {"enum":
// …} its text. What is malformed there stays as it is.
Json message_value(const Json& typed);
// And back, for from_typed_json().
Json typed_value(WireType type, const Json& value);

}  // namespace kvc
