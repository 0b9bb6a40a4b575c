// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/case.h"

#include <algorithm>
#include <array>

#include "conformance/harness/probe.h"
#include "conformance/harness/run_context.h"
#include "kvc/protocol/assert.h"

namespace kvc::conformance {
namespace {

bool is_title_case(std::string_view word) {
  return !word.empty() && word.front() >= 'A' && word.front() <= 'Z' &&
         std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                  c == '_';  // names of the protocol have some
         });
}

}  // namespace

std::string_view to_string(Capability capability) {
  constexpr std::array<std::string_view, kNumCapabilities> kNames = {
      "device",      "host-device", "cuda-device", "blend-v1",       "blend-v2",
      "lookup-hits", "small-cache", "security",    "blend-patterns", "blend-whole"};
  return kNames.at(static_cast<std::size_t>(capability));
}

std::optional<Capability> parse_capability(std::string_view name) {
  for (int i = 0; i < kNumCapabilities; ++i)
    if (to_string(static_cast<Capability>(i)) == name) return static_cast<Capability>(i);
  return std::nullopt;
}

Client Case::client() { return Client(context_); }
const Registry& Case::registry() const { return context_.registry(); }
std::uint64_t Case::chunk_size() { return context_.chunk_size(); }
Device& Case::device() { return context_.device(); }
std::mt19937_64& Case::random() { return context_.random(); }
std::string Case::unique(std::string_view stem) { return context_.unique(stem); }

void Case::expect(bool condition, const std::string& expected, const std::string& actual) {
  if (!condition) wrong(expected, actual);
}

void Case::wrong(const std::string& expected, const std::string& actual) {
  throw Finding{Verdict::kWrong, expected, actual, context_.step()};
}

void Case::harness(const std::string& what) {
  throw Finding{Verdict::kHarness, "the harness can carry out the case", what, context_.step()};
}

Testee& Case::testee() {
  KVC_ASSERT(context_.testee() != nullptr);
  return *context_.testee();
}

void Case::checked(std::size_t count) { context_.add_checks(count); }

void Case::step(const std::string& note) { context_.set_step(note); }

void Case::expect_alive(const std::string& after_what) {
  const std::optional<std::string> death = death_of_server(context_);
  if (death)
    throw Finding{Verdict::kDead, "the server serves on after " + after_what, *death,
                  context_.step()};
}

void CaseList::add(CaseSpec spec) {
  const std::size_t dot = spec.id.find('.');
  KVC_ASSERT(dot != std::string::npos);
  KVC_ASSERT(is_title_case(std::string_view(spec.id).substr(0, dot)));
  KVC_ASSERT(is_title_case(std::string_view(spec.id).substr(dot + 1)));
  KVC_ASSERT(spec.body != nullptr);
  KVC_ASSERT(std::none_of(cases_.begin(), cases_.end(),
                          [&](const CaseSpec& other) { return other.id == spec.id; }));
  cases_.push_back(std::move(spec));
}

CaseList merged(const CaseList& socket_cases, const CaseList& pipe_cases) {
  CaseList out = socket_cases;
  for (const CaseSpec& spec : pipe_cases.cases()) {
    const auto same = std::find_if(out.cases().begin(), out.cases().end(),
                                   [&](const CaseSpec& other) { return other.id == spec.id; });
    if (same == out.cases().end())
      out.add(spec);
    else
      same->on_pipe = true;
  }
  return out;
}

}  // namespace kvc::conformance
