// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Golden, the frames: every line of golden/accept and golden/reject at the first position of its
// type, and a sample of them at every other: a registry that says another type there is found.
#include <fmt/format.h>

#include <set>

#include "conformance/cases/testee/frames.h"
#include "conformance/cases/typing.h"

namespace kvc::conformance {
namespace {

constexpr std::size_t kSample = 48;  // enough for each kind and each encoding of the small types

void add_type(CaseList& list, const Position& position, const Golden& golden) {
  const WireType wire = position.wire();
  const std::string rule = requirement_of(wire);
  const std::string file = file_stem(wire) + ".jsonl";
  list.add(pipe_case("Golden.Accepts" + title(wire), {"golden.decode", rule},
                     fmt::format("Each frame of accept/{} is decoded to its value.", file),
                     [=](Case& test) {
                       Differences differences(test);
                       expect_decodes(test, position, all_of(accepted(*golden, wire)), differences);
                       differences.finish();
                     }));
  list.add(pipe_case(
      "Golden.Emits" + title(wire), {"golden.encode"},
      fmt::format("Each value of accept/{} is encoded as the real encoder does it.", file),
      [=](Case& test) {
        Differences differences(test);
        const GoldenLines& lines = accepted(*golden, wire);
        expect_encodes(test, position, lines, all_of(lines), differences);
        differences.finish();
      }));
  list.add(pipe_case("Golden.Refuses" + title(wire), {"golden.refuse", rule},
                     fmt::format("Each frame of reject/{} is refused.", file), [=](Case& test) {
                       Differences differences(test);
                       expect_refuses(test, position, all_of(refused(*golden, wire)), differences);
                       differences.finish();
                     }));
  list.add(pipe_case(
      fmt::format("Golden.PlacesFaultsOf{}", title(wire)), {"golden.paths"},
      fmt::format("The errors for reject/{} name the place that the real decoder names.", file),
      [=](Case& test) {
        Differences differences(test);
        expect_places_faults(test, position, all_of(refused(*golden, wire)), differences);
        differences.finish();
      }));
}

void judge_sample(Case& test, const Position& position, GoldenData& golden) {
  const WireType wire = position.wire();
  Differences differences(test);
  const GoldenLines& accept = accepted(golden, wire);
  expect_decodes(test, position, sample_of(accept, kSample), differences);
  expect_refuses(test, position, sample_of(refused(golden, wire), kSample), differences);
  if (test.testee().hello().implements("encode"))
    expect_encodes(test, position, accept, sample_of(accept, kSample), differences);
  differences.finish();
}

}  // namespace

void add_golden_frame_cases(CaseList& list, const Registry& registry, const Golden& golden) {
  std::set<WireType> seen;
  for (const Position& position : positions_of(registry))
    if (seen.insert(position.wire()).second) add_type(list, position, golden);
}

void add_golden_sample_cases(CaseList& list, const Registry& registry, const Golden& golden) {
  for (const Position& position : positions_of(registry))
    list.add(pipe_case(fmt::format("Registry.{}_IsOfItsType", position.name()),
                       {position.payload ? "registry.payload-types" : "registry.result-types"},
                       fmt::format("{} takes and refuses what {} does, and is encoded as it.",
                                   position.words(), to_string(position.wire())),
                       [=](Case& test) { judge_sample(test, position, *golden); }));
}

}  // namespace kvc::conformance
