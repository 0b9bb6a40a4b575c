// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Expectations: the failures that are known, a line each, and why:
//
//   # a comment
//   Envelope.UnknownTypeIsDropped DEAD  # the type frame is decoded outside any try
//   Store.LateEvent WRONG until=2026-12-31  # reported as #1234
//
// The verdict is WRONG, SILENT or DEAD. A line excuses exactly that verdict of that case; when the
// case passes or fails otherwise, the line itself is a failure. After `until` it excuses nothing.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/harness/case.h"
#include "conformance/harness/ledger.h"
#include "conformance/harness/verdict.h"

namespace kvc::conformance {

struct Expectation {
  std::string id;
  Verdict verdict = Verdict::kWrong;
  std::string until;   // "2026-12-31", or empty
  std::string reason;  // empty, or a TODO: counts as no reason
  int line = 0;

  bool has_reason() const;
  bool expired(std::string_view today) const { return !until.empty() && until < today; }
};

// A line that says no expectation, or a file for another release. "FILE:LINE: …"
class ExpectationsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Expectations {
 public:
  static Expectations parse(const std::string& text, const std::string& file_name);
  static Expectations load(const std::string& path);  // both throw ExpectationsError

  const Expectation* find(std::string_view id) const;
  const std::vector<Expectation>& all() const { return all_; }

  // What is wrong with the file itself, a sentence each: a case that does not exist or has been
  // renamed, a case listed twice, a line without a reason.
  std::vector<std::string> problems(const CaseList& cases, const Ledger& ledger) const;

  const std::string& file_name() const { return file_name_; }
  // The release that a line `release 0.4.5` names; empty where there is none: any.
  const std::string& release() const { return release_; }

 private:
  std::string file_name_;
  std::string release_;
  std::vector<Expectation> all_;
};

// The text of a file that expects what came. Lines that still hold keep their place, reason and
// date; lines of `failures` that no line told of come after them in order, with a TODO for a
// reason. `judged` says which cases were judged: lines of others (skipped, not run) are kept.
struct Failure {
  std::string id;
  Verdict verdict;
};
std::string rewritten(const std::string& old_text, const Expectations& old,
                      const std::vector<Failure>& failures, const std::vector<std::string>& judged);

std::string today();  // "2026-01-31", UTC

}  // namespace kvc::conformance
