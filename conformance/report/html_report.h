// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// HtmlReport: a run as one page that needs no network. It is whole without scripts; page.js adds
// filters. Whatever a server sent is escaped.
//
// A case's part of the page is made once and kept, because the page is written many times while the
// run goes on. One thread.
#pragma once

#include <string>
#include <vector>

#include "conformance/harness/ledger.h"
#include "conformance/harness/report.h"
#include "kvc/protocol/registry.h"

namespace kvc::conformance {

class HtmlReport {
 public:
  // Both outlive it.
  HtmlReport(const Ledger& ledger, const Registry& registry)
      : ledger_(ledger), registry_(registry) {}

  // `report` is of the run that the calls before were of: its results have grown, not changed.
  std::string page(const RunReport& report);

 private:
  void render_new_cases(const RunReport& report);
  std::string group(const RunReport& report, Grade grade, const std::string& id,
                    const std::string& title, bool by_area) const;
  std::string rules(const RunReport& report) const;

  const Ledger& ledger_;
  const Registry& registry_;
  std::vector<std::string> cases_;  // of report.results
};

// One case as a part of the page: a failed one with all that is known of it, any other in a line.
std::string case_html(const GradedResult& graded, const Ledger& ledger, const Registry& registry,
                      const RunReport& report);

}  // namespace kvc::conformance
