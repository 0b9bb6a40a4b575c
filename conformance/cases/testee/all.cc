// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <fmt/format.h>

#include "conformance/cases/stage.h"
#include "conformance/cases/testee/testee_cases.h"
#include "conformance/cases/typing.h"

namespace kvc::conformance {
namespace {

void says_unimplemented(Case& test) {
  for (const char* command : {"kvconform-nonsense", "", "Decode", "decode "}) {
    const TesteeReply reply = test.testee().ask(command);
    test.checked();
    test.expect(reply.kind == TesteeReply::Kind::kUnimplemented,
                fmt::format("\"unimplemented\" to the command \"{}\"", command), reply.text());
  }
}

void implements_what_it_says(Case& test) {
  const Hello& hello = test.testee().hello();
  test.expect(!hello.name.empty(), "a name in hello", "an empty one");
  test.expect(hello.release == test.registry().release(),
              fmt::format("release {} in hello", test.registry().release()), hello.release);
  for (const std::string& command : hello.implemented) {
    if (command == "hello" || command == "hostile_pickles") continue;
    // Without its other keys no command makes sense: any answer is fine but this one.
    test.step(command);
    const TesteeReply reply = test.testee().ask(command);
    test.checked();
    test.expect(reply.kind != TesteeReply::Kind::kUnimplemented,
                "ok, or an error: hello says that " + command + " is implemented", reply.text());
  }
}

}  // namespace

CaseSpec pipe_case(std::string id, std::vector<std::string> proves, std::string claim,
                   std::function<void(Case&)> body) {
  CaseSpec spec;
  spec.id = std::move(id);
  spec.proves = std::move(proves);
  spec.claim = std::move(claim);
  spec.body = std::move(body);
  spec.on_socket = false;
  spec.on_pipe = true;
  return spec;
}

std::string Position::name() const {
  if (payload) return position_name(row->type, *payload);
  return fmt::format("{}_result", to_string(row->type));
}

std::string Position::words() const {
  if (!payload) return fmt::format("{}'s result", to_string(row->type));
  return fmt::format("{}'s payload {} ({})", to_string(row->type), *payload,
                     payload_names(row->type).at(*payload));
}

Placed Position::place(Json content) const {
  Json position = "result";
  if (payload) position = *payload;
  return {std::string(to_string(row->type)), std::move(position), std::move(content)};
}

std::vector<Position> positions_of(const Registry& registry) {
  std::vector<Position> out;
  for (const Definition& row : registry.definitions()) {
    for (std::size_t i = 0; i < row.payloads.size(); ++i) out.push_back({&row, i});
    out.push_back({&row, std::nullopt});
  }
  return out;
}

std::string file_stem(WireType wire) {
  switch (wire) {
    case WireType::kNone:
      return "none";
    case WireType::kInt:
      return "int";
    case WireType::kBool:
      return "bool";
    case WireType::kStr:
      return "str";
    case WireType::kBytes:
      return "bytes";
    case WireType::kOptionalInt:
      return "optional_int";
    case WireType::kKey:
      return "key";
    case WireType::kKVCache:
      return "kv_cache";
    case WireType::kEngineType:
      return "engine_type";
    case WireType::kLayoutHints:
      return "layout_hints";
    case WireType::kIntList:
      return "int_list";
    case WireType::kBlockAllocationRecords:
      return "block_allocation_records";
    case WireType::kTransferResult:
      return "transfer_result";
    case WireType::kRanges:
      return "ranges";
    case WireType::kCBMatchResults:
      return "cb_match_results";
  }
  return "";
}

std::string title(WireType wire) {
  std::string out;
  bool upper = true;
  for (const char c : file_stem(wire)) {
    if (c == '_') {
      upper = true;
      continue;
    }
    out += upper ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return out;
}

void add_testee_basics(CaseList& list) {
  list.add(pipe_case("Testee.SaysUnimplementedToNonsense", {"testee.unimplemented"},
                     "A command that does not exist is answered with \"unimplemented\".",
                     says_unimplemented));
  list.add(pipe_case("Testee.ImplementsWhatItSays", {"testee.hello"},
                     "hello names the testee, its release, and commands that it does implement.",
                     implements_what_it_says));
}

CaseList testee_cases(const Registry& registry, const std::string& golden_folder) {
  const auto golden = std::make_shared<GoldenData>(registry.release(), golden_folder);
  CaseList list;
  add_testee_basics(list);
  add_pipe_registry_cases(list, registry, golden);
  add_pipe_initialize_cases(list, golden);
  add_pipe_handler_cases(list, registry, golden);
  add_golden_frame_cases(list, registry, golden);
  add_golden_sample_cases(list, registry, golden);
  add_golden_other_cases(list, golden);
  add_golden_message_cases(list, registry, golden);
  add_golden_hash_cases(list, golden);
  add_pipe_typing_cases(list, registry);
  return list;
}

}  // namespace kvc::conformance
