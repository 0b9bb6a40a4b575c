// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Typed JSON: values as JSON in which no type gets lost, the notation of golden/ (its README has
// the table): bytes are {"bytes": "00ff"}, an int beyond 2^53 is {"int": "…"}, an engine type is
// {"enum": "vllm"}. For tools and tests; the library kvc::typed_json, apart from kvc::protocol, so
// that a server needs no JSON library. Values own their memory. Pure functions; any thread.
#pragma once

#include <nlohmann/json.hpp>

#include "kvc/protocol/result.h"
#include "kvc/protocol/values.h"
#include "kvc/protocol/wire_type.h"

namespace kvc {

// Objects keep the order of the fields, as the wire does.
using Json = nlohmann::ordered_json;

Json to_typed_json(const Value& value);
Json to_typed_json(const IpcTensor& tensor);

// Reads what to_typed_json writes. Errors name the place, like the decoder's.
Result<Value> from_typed_json(WireType type, const Json& json);

}  // namespace kvc
