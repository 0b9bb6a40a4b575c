// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Envelope: the frames around payloads and results.
//   request    [uid][type][payload 0]…[payload n-1]      (behind the client's identity at a ROUTER)
//   response   [uid][type] or [uid][type][result]
// uid and type come back byte for byte: the server never decodes the uid. Pure functions.
#pragma once

#include <span>
#include <vector>

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/registry.h"
#include "kvc/protocol/result.h"

namespace kvc {

// decode_type_frame: the row that a type frame names. Any encoding of the integer is fine
// (measured: uint64 of 14 is NOOP); anything else is an error, which a server must survive.
Result<const Definition*> decode_type_frame(const Registry& registry, ByteView frame);

// The minimal encoding of the type's number.
Bytes encode_type_frame(const Registry& registry, RequestType type);

// decode_payloads: all payloads of a request, as tools want them. kWrongLength for another count.
Result<std::vector<Value>> decode_payloads(const Definition& definition,
                                           std::span<const ByteView> payloads);

// decode_result: what a client reads from the frames behind uid and type. A missing frame is None,
// and so is an explicit nil (c0), where the type allows it.
Result<Value> decode_result(const Definition& definition, std::span<const ByteView> result_frames);

}  // namespace kvc
