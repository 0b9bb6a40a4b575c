// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Ledger: every rule that the suite judges by, as conformance/requirements.yaml has it:
//
//   requirements:
//     - id: envelope.echo-uid          # lower case, dots and dashes; never reused
//       level: MUST                    # MUST, SHOULD or MAY
//       text: The reply carries the request's uid frame byte for byte.
//       source: "measured: lmcache 0.4.5"
//       releases: [0.4.5]
//       how_to_read: A failure means that …
//   aliases:                           # of requirements and cases: the old id, and what it is now
//     Envelope.OldName: Envelope.EchoesUidByteForByte
//   retired: [envelope.some-old-rule]  # ids that are gone and must not come back
//
// Immutable once read; any thread may read.
#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/harness/case.h"

namespace kvc::conformance {

enum class Level { kMay, kShould, kMust };  // in the order of their weight
std::string_view to_string(Level level);    // "MUST"

struct Requirement {
  std::string id;
  Level level = Level::kMust;
  std::string text;
  std::string source;
  std::vector<std::string> releases;
  std::string how_to_read;
};

// The text is no ledger. Says the line and what is wrong there.
class LedgerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Ledger {
 public:
  static Ledger parse(const std::string& yaml);  // throws LedgerError
  static const Ledger& embedded();               // conformance/requirements.yaml, as built in

  const std::vector<Requirement>& requirements() const { return requirements_; }
  const Requirement* find(std::string_view id) const;  // null: no such requirement

  // What `id` is called now; `id` itself when it was never renamed.
  std::string current_id(const std::string& id) const;
  const std::map<std::string, std::string>& aliases() const { return aliases_; }

  // The weightiest level among what the case proves; kMust for one that proves nothing we know.
  Level level_of(const CaseSpec& spec) const;

  // Everything that is wrong between ledger and cases, a sentence each; empty when all is well.
  std::vector<std::string> problems(const CaseList& cases) const;

 private:
  std::vector<Requirement> requirements_;
  std::map<std::string, std::string> aliases_;
  std::vector<std::string> retired_;
};

}  // namespace kvc::conformance
