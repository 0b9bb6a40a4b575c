// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Typing: every payload position of every request type refuses every other kind of value, and what
// is no document: no reply, no effect, no death. One table makes the cases; only the payload in
// question differs from a request that is answered before and after it in the same case.
#include "conformance/cases/typing.h"

#include <fmt/format.h>

#include "conformance/cases/families.h"
#include "conformance/cases/lists.h"
#include "conformance/cases/refusals.h"
#include "conformance/cases/stage.h"

namespace kvc::conformance {
namespace {

void add_mutation(CaseList& list, const Mutation& mutation) {
  const std::string_view name = to_string(mutation.type);
  const std::string_view payload = payload_names(mutation.type).at(mutation.index);
  list.add({
      .id = mutation.id(),
      .proves = {mutation.requirement, "typing.refusal-is-silent"},
      .claim = fmt::format("{}'s payload {} ({}, {}) is refused when it is {}: no reply, and the "
                           "next request is served.",
                           name, mutation.index, payload, to_string(mutation.wire), mutation.kind),
      .needs = capabilities_of(mutation.type),
      .body =
          [mutation](Case& test) {
            Stage stage(test);
            Client client = test.client();
            const Frames honest = stage.valid(mutation.type);
            std::vector<Frames> others;
            for (Bytes& document : mutation.documents(honest[mutation.index])) {
              others.push_back(honest);
              others.back()[mutation.index] = std::move(document);
            }
            expect_only_honest_answered(
                client, mutation.type, honest, others,
                fmt::format("{} with {} for {}", to_string(mutation.type), mutation.kind,
                            payload_names(mutation.type)[mutation.index]));
          },
  });
}

void add_position(std::vector<Mutation>& out, RequestType type, std::size_t index, WireType wire) {
  const auto add = [&](const std::string& family, const std::string& requirement,
                       std::function<std::vector<Bytes>(const Bytes&)> documents) {
    out.push_back({type, index, wire, "Refuses" + family, "of the kind " + family, requirement,
                   std::move(documents)});
  };
  for (const Family& family : refused_kinds(wire))
    add(family.name, requirement_of(wire),
        [documents = family.documents](const Bytes&) { return documents; });
  // The names in these two tables do not depend on the honest payload, the documents do.
  const Bytes sample = msg::array({msg::nil()});
  for (std::size_t i = 0; i < malformed(sample).size(); ++i)
    add(malformed(sample)[i].name, "typing.one-document",
        [i](const Bytes& honest) { return malformed(honest)[i].documents; });
  for (std::size_t i = 0; i < refused_values(wire, sample).size(); ++i)
    add(refused_values(wire, sample)[i].name, requirement_of(wire),
        [i, wire](const Bytes& honest) { return refused_values(wire, honest)[i].documents; });
}

}  // namespace

std::string position_name(RequestType type, std::size_t index) {
  return fmt::format("{}_payload{}_{}", to_string(type), index, payload_names(type).at(index));
}

std::string requirement_of(WireType wire) {
  switch (wire) {
    case WireType::kInt:
    case WireType::kOptionalInt:
      return "typing.int";
    case WireType::kStr:
      return "typing.str";
    case WireType::kBytes:
      return "typing.bytes";
    case WireType::kKey:
      return "typing.key";
    case WireType::kKVCache:
      return "typing.kv-cache";
    case WireType::kEngineType:
      return "typing.engine-type";
    case WireType::kLayoutHints:
      return "typing.layout-hints";
    case WireType::kIntList:
      return "typing.int-list";
    case WireType::kBlockAllocationRecords:
      return "typing.block-allocation-records";
    case WireType::kRanges:
      return "typing.ranges";
    case WireType::kCBMatchResults:
      return "typing.match-results";
    case WireType::kNone:
    case WireType::kBool:
    case WireType::kTransferResult:
      break;
  }
  return "registry.result-types";  // these are results only
}

std::string Mutation::id() const {
  return fmt::format("Typing.{}_{}", position_name(type, index), claim);
}

std::vector<Mutation> payload_mutations(const Registry& registry) {
  std::vector<Mutation> out;
  for (const Definition& definition : registry.definitions())
    for (std::size_t i = 0; i < definition.payloads.size(); ++i)
      add_position(out, definition.type, i, definition.payloads[i]);
  return out;
}

void add_typing_cases(CaseList& list, const Registry& registry) {
  for (const Mutation& mutation : payload_mutations(registry)) add_mutation(list, mutation);
}

}  // namespace kvc::conformance
