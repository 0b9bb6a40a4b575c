// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// TerminalReport: a run as people read it. On a terminal one line shows the running case, the
// counts and the time; failures come as they happen; the summary comes at the end. Not on a
// terminal there is no progress line, and no colour.
#pragma once

#include <chrono>
#include <ostream>
#include <string>

#include "conformance/harness/ledger.h"
#include "conformance/harness/report.h"

namespace kvc::conformance {

struct TerminalStyle {
  bool progress = false;
  bool colour = false;
  std::size_t columns = 80;

  // What stdout is, with NO_COLOR looked at.
  static TerminalStyle of_stdout();
};

class TerminalReport {
 public:
  TerminalReport(std::ostream& out, TerminalStyle style, const Ledger& ledger,
                 const Registry& registry)
      : out_(out), style_(style), ledger_(ledger), registry_(registry) {}

  void begin(const RunReport& report);
  void case_begins(const RunReport& report, const std::string& id);
  void case_ended(const RunReport& report, const GradedResult& graded);
  void end(const RunReport& report);

 private:
  enum class Colour { kRed, kGreen, kYellow };

  std::string painted(const std::string& text, Colour colour) const;
  void erase_progress();
  void list(const RunReport& report, Grade grade, const std::string& title);
  void count_skipped(const RunReport& report);

  std::ostream& out_;
  TerminalStyle style_;
  const Ledger& ledger_;
  const Registry& registry_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool progress_shown_ = false;
};

}  // namespace kvc::conformance
