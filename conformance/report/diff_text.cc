// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/report/diff_text.h"

#include <fmt/format.h>

#include "conformance/report/markdown_report.h"
#include "conformance/report/report_text.h"

namespace kvc::conformance {
namespace {

constexpr std::size_t kWhyBytesMax = 160;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string told(const LoadedReport& report) {
  return fmt::format("{}: {}{}, score {}{}", report.name, report.server,
                     report.server_version.empty() ? "" : ", version " + report.server_version,
                     report.score, report.finished ? "" : ", not finished");
}

}  // namespace

std::string diff_text(const LoadedReport& before, const LoadedReport& now, const ReportDiff& diff) {
  std::string out = fmt::format("old  {}\nnew  {}\n", told(before), told(now));
  for (const std::string& change : diff.server) out += "     " + change + "\n";
  const ChangedCase* last = nullptr;
  for (const ChangedCase& changed : diff.cases) {
    if (last == nullptr || last->change != changed.change)
      out += fmt::format("\n{} ({}):\n", title_of(changed.change), diff.count(changed.change));
    last = &changed;
    const std::string why = shortened(first_line(changed.why), kWhyBytesMax);
    out +=
        fmt::format("  {} {}  {} -> {}{}\n", changed.regression ? '!' : ' ', changed.id,
                    changed.before, changed.after, why.empty() || why == " " ? "" : "  # " + why);
  }
  if (!diff.outside.empty()) out += "\nnew failures outside any case:\n";
  for (const std::string& failure : diff.outside) out += "  ! " + failure + "\n";
  return clean_utf8(out + "\n" + diff.sentence() + "\n");
}

std::string diff_markdown(const LoadedReport& before, const LoadedReport& now,
                          const ReportDiff& diff) {
  std::string out = fmt::format("<!-- kvconform diff -->\n### {} kvconform: {}\n\n",
                                diff.exit_code() == 0   ? "✅"
                                : diff.exit_code() == 1 ? "❌"
                                                        : "⚠️",
                                diff.sentence());
  out += fmt::format("- old: {}\n- new: {}\n", markdown_escaped(told(before)),
                     markdown_escaped(told(now)));
  for (const std::string& change : diff.server) out += "- " + markdown_escaped(change) + "\n";
  for (const std::string& failure : diff.outside)
    out += fmt::format("\n**New failure outside any case:** {}\n", markdown_escaped(failure));
  const ChangedCase* last = nullptr;
  std::size_t num_shown = 0;
  for (const ChangedCase& changed : diff.cases) {
    const bool begins = last == nullptr || last->change != changed.change;
    std::string part;
    if (begins)
      part += fmt::format("\n#### {} ({})\n\n| case | old | new | |\n|---|---|---|---|\n",
                          title_of(changed.change), diff.count(changed.change));
    part += fmt::format("| {}{}{} | {} | {} | {} |\n", changed.regression ? "**" : "",
                        markdown_escaped(changed.id), changed.regression ? "**" : "",
                        changed.before, changed.after,
                        markdown_escaped(shortened(first_line(changed.why), kWhyBytesMax)));
    if (out.size() + part.size() > kMarkdownBytesMax) break;
    out += part;
    last = &changed;
    ++num_shown;
  }
  if (num_shown < diff.cases.size())
    out += fmt::format("\nand {} more\n", diff.cases.size() - num_shown);
  return out;
}

}  // namespace kvc::conformance
