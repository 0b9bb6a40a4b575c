// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What is asked of a codec with lines of golden/accept and golden/reject, at one position.
#pragma once

#include <span>

#include "conformance/cases/testee/differences.h"
#include "conformance/cases/testee/testee_cases.h"

namespace kvc::conformance {

using LineRefs = std::vector<const GoldenLine*>;
LineRefs all_of(const GoldenLines& lines);
LineRefs sample_of(const GoldenLines& lines, std::size_t count);  // evenly spread

// "golden/0.4.5/accept/key.jsonl:17 (map16)"
std::string where_of(const GoldenLine& line);

// Each of these asks for all lines, and notes what differs.
void expect_decodes(Case& test, const Position& position, const LineRefs& lines,
                    Differences& differences);
void expect_encodes(Case& test, const Position& position, const GoldenLines& file,
                    const LineRefs& lines, Differences& differences);
void expect_refuses(Case& test, const Position& position, const LineRefs& lines,
                    Differences& differences);
void expect_places_faults(Case& test, const Position& position, const LineRefs& lines,
                          Differences& differences);

// Whether `actual` is an encoding of `value` that the real encoder could have written, where it
// wrote `expected`; else why not.
std::optional<Difference> encoding_difference(WireType wire, const Json& value,
                                              const Bytes& expected, const Json& actual);

// The lines of a type, with a header that says so.
const GoldenLines& accepted(GoldenData& golden, WireType wire);
const GoldenLines& refused(GoldenData& golden, WireType wire);

}  // namespace kvc::conformance
