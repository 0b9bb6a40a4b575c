// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Verdict: what a case found. Only kPass is a pass: a server that died while refusing has not
// refused. A case ends early by throwing a Finding; falling off the end of its body is a pass.
#pragma once

#include <string>
#include <string_view>

namespace kvc::conformance {

enum class Verdict {
  kPass,
  kWrong,    // an answer, not the right one
  kSilent,   // no answer where one is due
  kDead,     // the server no longer answers, or exited
  kSkipped,  // a capability that the case needs is missing
  kHarness,  // our own fault, or that of our use
};
std::string_view to_string(Verdict verdict);  // "PASS", "WRONG", …
bool parse_verdict(std::string_view name, Verdict& verdict);

// Why a case did not pass. Thrown by Case and Client, caught by the runner.
struct Finding {
  Verdict verdict = Verdict::kWrong;
  std::string expected;  // in words: "no reply"
  std::string actual;    // in words, with decoded frames: "a reply: (b\"\", False)"
  std::string note;      // where it happened, for a case of several steps; may be empty
};

}  // namespace kvc::conformance
