// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Differences: what one case found wrong among many lines, so that a failure shows the first few in
// words, each with its place, and says how many there are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/harness/case.h"
#include "conformance/testee/testee.h"

namespace kvc::conformance {

struct Difference {
  std::string path;  // "$.token_ids[3]"
  std::string expected;
  std::string actual;
};

// Where `actual` is another value than `expected`; entries of maps may come in any order, and an
// integer is no float and no bool.
std::optional<Difference> first_difference(const Json& expected, const Json& actual);

class Differences {
 public:
  explicit Differences(Case& test) : test_(test) {}

  // `where` says what was asked: "accept/key.jsonl:17 (map16)".
  void add(const std::string& where, const std::string& expected, const std::string& actual);
  // Counts a check, and compares. A refusal is a difference; "unimplemented" ends the case as
  // SKIPPED.
  void expect_value(const std::string& where, const Json& expected, const TesteeReply& reply);
  // Counts a check: the reply has to be an error, of one of these kinds unless there are none.
  void expect_error(const std::string& where, const std::vector<std::string>& kinds,
                    const std::string& why, const TesteeReply& reply);
  void checked() { ++num_checks_; }

  // Ends the case as SKIPPED when this is no answer.
  void expect_implemented(const TesteeReply& reply, const std::string& command) const;

  // Ends the case as WRONG when there was a difference. Adds to the run's number of checks.
  void finish();

 private:
  Case& test_;
  std::size_t num_checks_ = 0;
  std::size_t num_differences_ = 0;
  std::string expected_;
  std::string actual_;
};

}  // namespace kvc::conformance
