// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Families: msgpack's kinds of values, each with a few documents of its kind in several encodings,
// and which of them a payload of a given type has to refuse. The tables behind Typing.
#pragma once

#include <string>
#include <vector>

#include "kvc/protocol/bytes.h"
#include "kvc/protocol/wire_type.h"

namespace kvc::conformance {

struct Family {
  std::string name;  // "Str": an id ends in "RefusesStr"
  std::vector<Bytes> documents;
};

// What a value of `type` is never made from, because it is of another kind.
std::vector<Family> refused_kinds(WireType type);

// What is no whole document at all: nothing, a piece, one with bytes behind it, c1.
// `valid` is a document that is accepted in that place.
std::vector<Family> malformed(const Bytes& valid);

// What is of the right kind and still wrong for `type`: a str that is not UTF-8, an array with a
// wrong element, a forbidden salt (see also cases/typing_accepts.cc for what is right).
std::vector<Family> refused_values(WireType type, const Bytes& valid);

}  // namespace kvc::conformance
