// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/report/markdown_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/harness/failure_text.h"
#include "conformance/harness/version.h"
#include "conformance/report/report_text.h"

namespace kvc::conformance {
namespace {

constexpr std::size_t kFailureBytesMax = 6000;

std::string areas(const RunReport& report) {
  std::string out;
  for (const AreaScore& score : area_scores(report)) {
    if (score.failed + score.expected + score.notes + score.not_run == 0) continue;
    if (out.empty())
      out =
          "\n| area | required cases that hold | failed | as expected | notes | not run |\n"
          "|---|---:|---:|---:|---:|---:|\n";
    out += fmt::format("| {} | {}/{} | {} | {} | {} | {} |\n", markdown_escaped(score.area),
                       score.required_passed, score.required, score.failed, score.expected,
                       score.notes, score.not_run);
  }
  return out;
}

std::string failure(const GradedResult& graded, const RunReport& report, const Ledger& ledger,
                    const Registry& registry) {
  const std::string text = failure_text(graded, ledger, registry, report);
  return fmt::format("\n<details><summary><b>{}</b> {}: {}</summary>\n\n{}</details>\n",
                     to_string(graded.result.verdict), html_escaped(graded.result.spec.id),
                     html_escaped(graded.result.spec.claim),
                     markdown_code(clean_utf8(shortened(text, kFailureBytesMax))));
}

// A line each, folded; as many as fit.
std::string folded_list(const RunReport& report, Grade grade, const std::string& title,
                        std::size_t bytes_max) {
  std::string lines;
  int num_shown = 0;
  int count = 0;
  for (const GradedResult& graded : report.results) {
    if (graded.grade != grade) continue;
    ++count;
    const std::string why = graded.reason.empty() ? graded.result.finding.actual : graded.reason;
    const std::string line =
        fmt::format("- {} {}: {}\n", to_string(graded.result.verdict),
                    markdown_escaped(graded.result.spec.id), markdown_escaped(shortened(why, 160)));
    if (lines.size() + line.size() > bytes_max) continue;
    lines += line;
    ++num_shown;
  }
  if (count == 0) return "";
  if (num_shown < count) lines += fmt::format("- and {} more\n", count - num_shown);
  return fmt::format("\n<details><summary>{} ({})</summary>\n\n{}\n</details>\n", title, count,
                     lines);
}

std::string_view sign(const RunReport& report) {
  if (!report.finished) return "⏳";
  const int code = exit_code(report);
  return code == 0 ? "✅" : code == 1 ? "❌" : "⚠️";
}

}  // namespace

std::string markdown_code(std::string_view text) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}text\n{}{}{}\n", fence, text,
                     !text.empty() && text.back() == '\n' ? "" : "\n", fence);
}

std::string markdown_escaped(std::string_view text) {
  std::string out;
  for (const char c : clean_utf8(text)) {
    if (c == '\n' || c == '\t') {
      out += ' ';
      continue;
    }
    if (std::string_view("\\`*_[]<>#|&~@").find(c) != std::string_view::npos) {
      // As HTML names them, so that no @ calls somebody and no text becomes a link.
      out += fmt::format("&#{};", static_cast<int>(c));
      continue;
    }
    out += c;
  }
  return out;
}

std::string markdown_report(const RunReport& report, const Ledger& ledger,
                            const Registry& registry) {
  const Tally count = tally(report);
  std::string out = fmt::format(
      "{}\n### {} kvconform: {}\n\n{}\n\nScore **{}/{}** required cases, {:.1f} s, kvconform {}, "
      "seed {}.\n",
      kMarkdownMark, sign(report), verdict_words(report),
      markdown_escaped(verdict_sentence(report)), count.required_passed, count.required,
      report.duration_s, kSuiteVersion, report.seed);
  out += areas(report);
  for (const std::string& text : report.failures)
    out += fmt::format("\n**Failed:** {}\n", markdown_escaped(shortened(text, 2000)));
  for (const std::string& text : report.problems)
    out += fmt::format("\n**Problem:** {}\n", markdown_escaped(shortened(text, 2000)));

  int num_left_out = 0;
  for (const GradedResult& graded : report.results) {
    if (!is_bad(graded.grade)) continue;
    const std::string text = failure(graded, report, ledger, registry);
    if (out.size() + text.size() > kMarkdownBytesMax - 12000)
      ++num_left_out;
    else
      out += text;
  }
  if (num_left_out > 0)
    out +=
        fmt::format("\n{} more failures did not fit: see the HTML or JSON report.\n", num_left_out);
  out += folded_list(report, Grade::kExpectedFailure, "failures as expected", 6000);
  out += folded_list(report, Grade::kNote, "rules that are no MUST and do not hold", 3000);
  return shortened(out, kMarkdownBytesMax);
}

}  // namespace kvc::conformance
