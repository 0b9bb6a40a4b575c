// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/report/report_writer.h"

#include <algorithm>
#include <functional>
#include <system_error>

#include "conformance/harness/json_report.h"
#include "conformance/report/badge.h"
#include "conformance/report/markdown_report.h"

namespace kvc::conformance {
namespace {

constexpr std::chrono::seconds kPauseMin{2};
constexpr int kCostFactor = 50;  // the files take at most 2 % of the run

}  // namespace

std::chrono::nanoseconds ReportWriter::pause_after(std::chrono::nanoseconds cost) {
  return std::max<std::chrono::nanoseconds>(kPauseMin, cost * kCostFactor);
}

std::vector<std::string> ReportWriter::write(const RunReport& report) {
  std::vector<std::string> problems;
  const auto file = [&](std::string& path, const std::function<std::string()>& content) {
    if (path.empty()) return;
    try {
      write_whole_file(path, content());
    } catch (const std::system_error& error) {
      problems.emplace_back(error.what());
      path.clear();
    }
  };
  const Clock::time_point start = Clock::now();
  file(paths_.json, [&] { return dumped(json_report(report, ledger_)); });
  file(paths_.html, [&] { return html_.page(report); });
  file(paths_.markdown, [&] { return markdown_report(report, ledger_, registry_); });
  file(paths_.badge, [&] { return dumped(badge_json(report)); });
  const Clock::time_point end = Clock::now();
  due_ = end + pause_after(end - start);
  return problems;
}

std::vector<std::string> ReportWriter::write_if_due(const RunReport& report) {
  return Clock::now() < due_ ? std::vector<std::string>{} : write(report);
}

}  // namespace kvc::conformance
