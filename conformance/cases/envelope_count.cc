// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Envelope: a request has exactly the payload frames of its row. One too few or too many, be it
// empty, and there is no reply.
#include <fmt/format.h>

#include "conformance/cases/lists.h"
#include "conformance/cases/refusals.h"
#include "conformance/cases/stage.h"

namespace kvc::conformance {
namespace {

void add_case(CaseList& list, RequestType type, const std::string& id, const std::string& what,
              const std::function<std::vector<Frames>(const Frames&)>& others) {
  list.add({.id = fmt::format("Envelope.{}_{}", to_string(type), id),
            .proves = {"envelope.payload-count"},
            .claim = fmt::format("{} with {} gets no reply, and the next request is served.",
                                 to_string(type), what),
            .needs = capabilities_of(type),
            .body = [=](Case& test) {
              Stage stage(test);
              Client client = test.client();
              const Frames honest = stage.valid(type);
              expect_only_honest_answered(client, type, honest, others(honest),
                                          fmt::format("{} with {}", to_string(type), what));
            }});
}

std::vector<Frames> with_missing(const Frames& honest) {
  std::vector<Frames> out = {{}};
  for (std::size_t i = 0; honest.size() > 1 && i < honest.size(); ++i) {
    out.push_back(honest);
    out.back().erase(out.back().begin() + static_cast<std::ptrdiff_t>(i));
  }
  return out;
}

std::vector<Frames> with_extra(const Frames& honest) {
  std::vector<Frames> out;
  for (const Bytes& extra : {msg::nil(), msg::integer(0), msg::str("x"), msg::never_used(),
                             honest.empty() ? msg::map({}) : honest.back()}) {
    out.push_back(honest);
    out.back().push_back(extra);
  }
  out.push_back(honest);
  out.back().insert(out.back().end(), 100, msg::nil());
  out.push_back(honest);
  out.back().insert(out.back().begin(), msg::nil());
  return out;
}

std::vector<Frames> with_empty_extra(const Frames& honest) {
  std::vector<Frames> out = {honest, honest, honest};
  out[0].emplace_back();
  out[1].insert(out[1].begin(), Bytes{});  // where a REQ socket's delimiter would stand
  out[2].insert(out[2].end(), 3, Bytes{});
  return out;
}

}  // namespace

void add_envelope_count_cases(CaseList& list, const Registry& registry) {
  for (const Definition& definition : registry.definitions()) {
    const RequestType type = definition.type;
    if (!definition.payloads.empty())
      add_case(list, type, "RefusesMissingPayloads", "a payload frame missing", with_missing);
    add_case(list, type, "RefusesExtraPayloads", "a payload frame too many", with_extra);
    add_case(list, type, "RefusesExtraEmptyFrames", "an empty frame too many", with_empty_extra);
  }
}

}  // namespace kvc::conformance
