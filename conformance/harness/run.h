// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Run: `kvconform run` and `kvconform testee` from options to exit code: starts the subject, finds
// its capabilities, judges the cases in the order of the list, grades, reports.
#pragma once

#include <memory>
#include <ostream>

#include "conformance/harness/case.h"
#include "conformance/harness/expectations.h"
#include "conformance/harness/judge.h"
#include "conformance/harness/ledger.h"
#include "conformance/harness/report.h"
#include "conformance/harness/run_options.h"
#include "conformance/harness/terminal_report.h"
#include "conformance/report/report_writer.h"

namespace kvc::conformance {

class Run {
 public:
  // `known` has all ids that ledger and expectations may speak of: those of `cases` when null.
  // `cases`, `known`, `ledger` and `out` outlive the run. Throws UsageError, ExpectationsError.
  Run(RunOptions options, const CaseList& cases, const Ledger& ledger, std::ostream& out,
      TerminalStyle style, const CaseList* known = nullptr);
  ~Run();

  // All cases that the options choose, through GoogleTest. Once in a process. Answers the exit
  // code.
  int run_all();

  // What run_all does for each case; the server is started before the first.
  const GradedResult& run_one(const CaseSpec& spec, std::size_t num_planned);

  // What run_all does at the end. Answers the exit code.
  int finish();

  const RunReport& report() const { return report_; }
  RunContext& context() { return context_; }

 private:
  void start();
  void probe_server();
  void probe_testee(Testee& testee);
  void write_reports(bool whether_due_or_not);
  void save_repro(const GradedResult& graded);
  void rewrite_expectations();
  bool is_filtered() const;
  void remove_empty_folder();

  RunOptions options_;
  const CaseList& cases_;
  const Ledger& ledger_;
  GradingRules rules_;
  std::string expectations_text_;
  Expectations expectations_;
  RunContext context_;
  std::unique_ptr<Subject> subject_;
  RunReport report_;
  TerminalReport terminal_;
  ReportWriter writer_;
  std::unique_ptr<Judge> judge_;
  bool started_ = false;
  std::string cannot_start_;
  std::chrono::steady_clock::time_point start_time_;
};

}  // namespace kvc::conformance
