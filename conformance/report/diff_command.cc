// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/report/diff_command.h"

#include "conformance/harness/json_report.h"
#include "conformance/report/diff_text.h"

namespace kvc::conformance {

int diff_command(const DiffOptions& options, const Ledger& ledger, std::ostream& out) {
  const LoadedReport before = load_report(options.before, ledger);
  const LoadedReport now = load_report(options.now, ledger);
  std::vector<LoadedReport> again;
  for (const std::string& path : options.again) again.push_back(load_report(path, ledger));
  const ReportDiff diff = diff_reports(before, now, again);
  out << diff_text(before, now, diff);
  if (!options.markdown.empty())
    write_whole_file(options.markdown, diff_markdown(before, now, diff));
  return diff.exit_code();
}

}  // namespace kvc::conformance
