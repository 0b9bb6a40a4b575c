// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Handlers, at their registration: signatures, handler types and pools, with the verdict of the
// real server's add_handler, pools and start.
#include <fmt/format.h>

#include "conformance/cases/testee/differences.h"
#include "conformance/cases/testee/testee_cases.h"

namespace kvc::conformance {
namespace {

struct Outcome {
  const char* kind;  // as the pipe says it; "" for ok
  const char* id;
  const char* claim;
};
constexpr Outcome kOutcomes[] = {
    {"", "AcceptsFittingHandlers", "A handler of the right signature, type and pool is accepted."},
    {"arity", "RefusesAnotherNumberOfParameters",
     "A handler with more or fewer parameters than the definition's payloads is refused."},
    {"parameter_type", "RefusesParametersOfAnotherType",
     "A handler with a parameter of another type than its payload is refused."},
    {"return_type", "RefusesAnotherReturnType",
     "A handler that returns another type than the definition's result is refused."},
    {"non_blocking", "RefusesNonBlocking", "A NON_BLOCKING handler is refused."},
    {"pool_missing", "RefusesBlockingWithoutPool",
     "A BLOCKING handler without a pool keeps the server from starting."},
    {"pool_not_blocking", "RefusesPoolForSync", "A pool for a SYNC handler is refused."},
    {"handler_missing", "RefusesPoolWithoutHandler",
     "A pool for a type without handler is refused."},
};

// The real server says all three differences of a signature in the same words; which it is follows
// from the definition.
std::string kind_of(const GoldenLine& line, const Registry& registry) {
  if (line.has("ok")) return "";
  const std::string stage = line.text("stage");
  const std::string error = line.text("kind");
  if (stage == "start") return "pool_missing";
  if (stage == "add_pool") return error == "TypeError" ? "pool_not_blocking" : "handler_missing";
  if (error == "NotImplementedError") return "non_blocking";
  const auto type = parse_request_type(line.text("type"));
  const Definition* row = type ? registry.find(*type) : nullptr;
  if (stage != "add_handler" || row == nullptr)
    throw GoldenError(line.place + ": an outcome of no known kind");
  const Json& parameters = line.at("parameters");
  if (parameters.size() != row->payloads.size()) return "arity";
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i] != std::string(to_string(row->payloads[i]))) return "parameter_type";
  return "return_type";
}

// The real server compares no handler types. One that does says so first, and may.
bool is_of_another_type(const GoldenLine& line, const Registry& registry) {
  const auto type = parse_request_type(line.text("type"));
  const Json& handler = line.at("handler");
  return type && handler.is_string() && handler != "NON_BLOCKING" &&
         handler != std::string(to_string(registry.get_handler_type(*type).value()));
}

TesteeReply add_handler(Case& test, const GoldenLine& line) {
  const Json& pool = line.at("pool");
  return test.testee().ask("add_handler", {{"type", line.at("type")},
                                           {"payloads", line.at("parameters")},
                                           {"result", line.at("result")},
                                           {"handler", line.at("handler")},
                                           {"pool", pool.is_null() ? Json("none") : pool}});
}

void judge(Case& test, GoldenData& golden, const std::string& kind) {
  Differences differences(test);
  for (const GoldenLine& line : golden.list("handlers.json", "cases")) {
    if (line.has("stricter") || kind_of(line, test.registry()) != kind) continue;
    const TesteeReply reply = add_handler(test, line);
    differences.expect_implemented(reply, "add_handler");
    const std::string where =
        fmt::format("{} ({}, {})", line.place, line.text("type"), line.text("about"));
    const bool may_differ = is_of_another_type(line, test.registry());
    if (may_differ && reply.kind == TesteeReply::Kind::kError && reply.error == "handler_type") {
      differences.checked();
    } else if (kind.empty()) {
      differences.checked();
      if (!reply.ok()) differences.add(where, "ok", reply.text());
    } else {
      differences.expect_error(where, {kind}, line.text("error"), reply);
    }
  }
  differences.finish();
}

void judge_stricter(Case& test, GoldenData& golden) {
  Differences differences(test);
  for (const GoldenLine& line : golden.list("handlers.json", "cases")) {
    if (!line.has("stricter")) continue;
    differences.expect_implemented(add_handler(test, line), "add_handler");
    differences.checked();
  }
  differences.finish();
}

void unknown_type(Case& test) {
  const TesteeReply reply = test.testee().ask("add_handler", {{"type", "GHOST"},
                                                              {"payloads", Json::array()},
                                                              {"result", "None"},
                                                              {"handler", "SYNC"},
                                                              {"pool", "none"}});
  Differences differences(test);
  differences.expect_implemented(reply, "add_handler");
  differences.expect_error("GHOST", {"unknown_type"}, "no such type", reply);
  differences.finish();
}

}  // namespace

void add_pipe_handler_cases(CaseList& list, const Registry&, const Golden& golden) {
  for (const Outcome& outcome : kOutcomes)
    list.add(pipe_case(
        fmt::format("Handlers.{}", outcome.id), {"handlers.registration"}, outcome.claim,
        [=, kind = std::string(outcome.kind)](Case& test) { judge(test, *golden, kind); }));
  list.add(pipe_case("Handlers.RefusesUnknownTypes", {"handlers.registration"},
                     "A handler for a type that the release does not have is refused.",
                     unknown_type));
  list.add(pipe_case("Handlers.SurvivesAnotherHandlerType", {"handlers.registration-stricter"},
                     "A handler of another type than the definition's is taken or refused.",
                     [=](Case& test) { judge_stricter(test, *golden); }));
}

}  // namespace kvc::conformance
