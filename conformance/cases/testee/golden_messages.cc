// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Golden, the messages: what the real client sent and the real server answered, frame by frame, as
// a server and a client would read and write it.
#include <fmt/format.h>

#include "conformance/cases/testee/frames.h"

namespace kvc::conformance {
namespace {

constexpr const char* kFiles[] = {"messages/server.jsonl", "messages/blend_server.jsonl",
                                  "messages/encoder.jsonl"};

// One frame, decoded to its value and encoded again.
void judge_frame(Case& test, const Position& position, const std::string& where, const Bytes& frame,
                 const Json& value, Differences& differences) {
  const Placed decode = position.place(pipe_bytes(frame));
  const auto name = [&](std::size_t) { return where; };
  const TesteeReply decoded = test.testee().ask_all("decode", {&decode, 1}, name).front();
  differences.expect_implemented(decoded, "decode");
  differences.expect_value(where, value, decoded);
  if (!test.testee().hello().implements("encode")) return;
  const Placed encode = position.place(value);
  const TesteeReply encoded = test.testee().ask_all("encode", {&encode, 1}, name).front();
  differences.checked();
  if (!encoded.ok())
    differences.add(where, to_hex(frame), encoded.text());
  else if (const auto found = encoding_difference(position.wire(), value, frame, encoded.value))
    differences.add(where + " encoded", found->expected, found->actual);
}

void judge_message(Case& test, const Definition& row, const GoldenLine& line,
                   Differences& differences) {
  const Json& request = line.at("request");
  const Json& payloads = line.at("payloads");
  const Json& reply = line.at("reply");
  if (request.size() != payloads.size() + 2 || payloads.size() != row.payloads.size() ||
      reply.size() < 2 || reply.size() > 3)
    throw GoldenError(line.place + ": the frames do not fit the payloads");
  const TesteeReply type =
      test.testee().ask("decode_type", {{"bytes", pipe_bytes(message_frame(line, request[1]))}});
  if (type.kind != TesteeReply::Kind::kUnimplemented)
    differences.expect_value(where_of(line) + " type frame", row.number, type);
  for (std::size_t i = 0; i < payloads.size(); ++i)
    judge_frame(test, {&row, i}, fmt::format("{} payload {}", where_of(line), i),
                message_frame(line, request[i + 2]), pipe_value(without_any(payloads[i])),
                differences);
  if (reply.size() == 3)
    judge_frame(test, {&row, std::nullopt}, where_of(line) + " result",
                message_frame(line, reply[2]), pipe_value(without_any(line.at("result"))),
                differences);
}

}  // namespace

void add_golden_message_cases(CaseList& list, const Registry& registry, const Golden& golden) {
  for (const Definition& row : registry.definitions())
    list.add(pipe_case(
        fmt::format("Golden.{}_Messages", to_string(row.type)), {"golden.messages"},
        fmt::format("The recorded {} requests and replies are read and written frame by frame.",
                    to_string(row.type)),
        [row, golden](Case& test) {
          Differences differences(test);
          for (const char* file : kFiles)
            for (const GoldenLine& line : golden->lines(file).lines)
              if (line.text("type") == to_string(row.type))
                judge_message(test, row, line, differences);
          differences.finish();
        }));
}

}  // namespace kvc::conformance
