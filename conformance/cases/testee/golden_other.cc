// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Golden, type frames and pickles.
#include <fmt/format.h>

#include "conformance/cases/testee/frames.h"

namespace kvc::conformance {
namespace {

void type_frames(Case& test, GoldenData& golden, bool named) {
  Differences differences(test);
  for (const GoldenLine& line : golden.lines("type_frames.jsonl").lines) {
    if (line.has("number") != named) continue;
    const TesteeReply reply =
        test.testee().ask("decode_type", {{"bytes", pipe_bytes(line.bytes("hex"))}});
    const std::string where = fmt::format("{} ({})", line.place, line.text("hex"));
    differences.expect_implemented(reply, "decode_type");
    if (named)
      differences.expect_value(where, line.at("number"), reply);
    else
      differences.expect_error(where, {}, line.text("error"), reply);
  }
  differences.finish();
}

void pickles(Case& test, GoldenData& golden, const char* key) {
  const std::string_view kind = key;
  if (kind != "value" && !test.testee().hello().implements("hostile_pickles"))
    throw Finding{Verdict::kSkipped,
                  "the testee implements hostile_pickles: its reader runs nothing",
                  "hello does not say so; see conformance/testee/README.md", ""};
  Differences differences(test);
  for (const GoldenLine& line : golden.lines("pickles.jsonl").lines) {
    if (!line.has(key)) continue;
    test.step(where_of(line));
    const TesteeReply reply =
        test.testee().ask("decode_pickle", {{"bytes", pipe_bytes(line.bytes("hex"))}});
    differences.expect_implemented(reply, "decode_pickle");
    if (kind == "value")
      differences.expect_value(where_of(line), pipe_value(line.at("value")), reply);
    else if (kind == "refuse")
      differences.expect_error(where_of(line), {}, line.text("refuse"), reply);
    else
      differences.checked();  // an answer is all that is asked
  }
  test.step("");
  differences.finish();
}

}  // namespace

void add_golden_other_cases(CaseList& list, const Golden& golden) {
  list.add(pipe_case("Golden.TypeFramesNameTheirNumber", {"golden.type-frames", "registry.numbers"},
                     "Each type frame that names a type, in any encoding, gives its number.",
                     [=](Case& test) { type_frames(test, *golden, true); }));
  list.add(pipe_case("Golden.RefusesTypeFrames",
                     {"golden.type-frames", "registry.outside-is-nobody"},
                     "Each type frame that names no type is refused.",
                     [=](Case& test) { type_frames(test, *golden, false); }));
  list.add(pipe_case("Golden.ReadsPickles", {"golden.pickles", "typing.pickle"},
                     "Each pickle that a client's Python writes is read to its value.",
                     [=](Case& test) { pickles(test, *golden, "value"); }));
  list.add(pipe_case(
      "Golden.RefusesHostilePickles", {"golden.pickles", "security.pickle-runs-nothing"},
      "Each hostile pickle is refused.", [=](Case& test) { pickles(test, *golden, "refuse"); }));
  list.add(pipe_case("Golden.SurvivesOddPickles", {"golden.pickles", "security.pickle-bounds"},
                     "Each odd pickle is read or refused, and the testee lives.",
                     [=](Case& test) { pickles(test, *golden, "either"); }));
}

}  // namespace kvc::conformance
