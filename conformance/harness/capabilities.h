// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Capabilities: what the server under test can do, found out by asking. Every probe is a request
// that any server may be asked at any time: it stores one chunk under a model of its own, and drops
// nothing. Request types for which there is no such request (CLEAR, most of CB_*) are not probed.
#pragma once

#include <map>
#include <set>
#include <string>

#include "conformance/harness/case.h"

namespace kvc::conformance {

enum class Answer { kAnswers, kSilent, kNotProbed };
std::string_view to_string(Answer answer);  // "answers", "silent", "not probed"

class Capabilities {
 public:
  bool has(Capability capability) const { return present_.count(capability) > 0; }
  void set(Capability capability) { present_.insert(capability); }

  Answer answer(RequestType type) const;
  void set_answer(RequestType type, Answer answer) { answers_[type] = answer; }

  // `name` is a capability's or a request type's; false as well for a type that was not probed.
  bool has(const std::string& name) const;
  static bool is_name(const std::string& name);

  // "host-device, lookup-hits; silent: CB_LOOKUP_PRE_COMPUTED, …"
  std::string text() const;

 private:
  std::set<Capability> present_;
  std::map<RequestType, Answer> answers_;
};

// Asks the server. One that dies of it leaves the rest unanswered; the caller probes for that.
Capabilities probe_capabilities(RunContext& context);

}  // namespace kvc::conformance
