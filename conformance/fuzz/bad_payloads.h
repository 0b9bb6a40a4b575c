// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Bad payloads: for a wire type and a legal payload of it, payloads that no decoder of the protocol
// may take, one function for each way to be bad. Each answers the payload as it was where the type
// cannot be bad in that way. Pure, but for the random numbers.
#pragma once

#include "conformance/fuzz/legal_values.h"

namespace kvc::conformance {

Bytes payload_of_another_kind(WireType type, ByteView payload, Random& random);
// A field or element of another kind, or a required one missing.
Bytes payload_with_a_bad_part(WireType type, ByteView payload, Random& random);
Bytes payload_with_bytes_behind(WireType type, ByteView payload, Random& random);
Bytes cut_payload(WireType type, ByteView payload, Random& random);
Bytes empty_payload(WireType type, ByteView payload, Random& random);
Bytes payload_never_used(WireType type, ByteView payload, Random& random);
Bytes lying_payload(WireType type, ByteView payload, Random& random);
Bytes deep_payload(WireType type, ByteView payload, Random& random);
Bytes huge_payload(WireType type, ByteView payload, Random& random);
Bytes payload_of_bad_text(WireType type, ByteView payload, Random& random);
Bytes payload_of_bad_value(WireType type, ByteView payload, Random& random);
Bytes payload_of_bad_pickle(WireType type, ByteView payload, Random& random);

}  // namespace kvc::conformance
