// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ReportWriter: a run's files (JSON, page, comment, badge), written while it goes on and at its
// end, each whole at any time, so that even a killed run leaves them. Writing takes a bounded share
// of the run's time, whatever the files cost. One thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "conformance/harness/ledger.h"
#include "conformance/harness/report.h"
#include "conformance/report/html_report.h"
#include "kvc/protocol/registry.h"

namespace kvc::conformance {

// Empty: this file is not asked for.
struct ReportPaths {
  std::string json;
  std::string html;
  std::string markdown;
  std::string badge;
};

class ReportWriter {
 public:
  // Both outlive it.
  ReportWriter(ReportPaths paths, const Ledger& ledger, const Registry& registry)
      : paths_(std::move(paths)), ledger_(ledger), registry_(registry), html_(ledger, registry) {}

  // Answers why a file could not be written; that file is then not tried again.
  std::vector<std::string> write(const RunReport& report);

  // The same, unless the last writing was too short a time ago.
  std::vector<std::string> write_if_due(const RunReport& report);

  // How long to wait after a writing that took `cost`.
  static std::chrono::nanoseconds pause_after(std::chrono::nanoseconds cost);

 private:
  using Clock = std::chrono::steady_clock;

  ReportPaths paths_;
  const Ledger& ledger_;
  const Registry& registry_;
  HtmlReport html_;
  Clock::time_point due_ = Clock::now();
};

}  // namespace kvc::conformance
