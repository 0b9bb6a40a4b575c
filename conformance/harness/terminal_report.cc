// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/terminal_report.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <map>

#include "conformance/harness/failure_text.h"
#include "conformance/harness/version.h"

namespace kvc::conformance {
namespace {

// The first line of a text, so that a list stays a list.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

TerminalStyle TerminalStyle::of_stdout() {
  TerminalStyle style;
  style.progress = ::isatty(STDOUT_FILENO) == 1;
  const char* no_color = std::getenv("NO_COLOR");
  style.colour = style.progress && (no_color == nullptr || *no_color == '\0');
  winsize size{};
  if (style.progress && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
    style.columns = size.ws_col;
  return style;
}

std::string TerminalReport::painted(const std::string& text, Colour colour) const {
  if (!style_.colour) return text;
  const int code = colour == Colour::kRed ? 31 : colour == Colour::kGreen ? 32 : 33;
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void TerminalReport::erase_progress() {
  if (progress_shown_) out_ << "\r\x1b[K";
  progress_shown_ = false;
}

void TerminalReport::begin(const RunReport& report) {
  out_ << fmt::format("kvconform {}, release {} of the protocol, seed {}\n", kSuiteVersion,
                      report.release, report.seed);
  out_ << fmt::format("judging {}\n", report.server);
  if (report.command == "run")
    out_ << fmt::format("it has: {}\n", report.capabilities.text());
  else
    out_ << fmt::format("it implements: {}\n",
                        report.implemented.empty()
                            ? "nothing"
                            : fmt::to_string(fmt::join(report.implemented, ", ")));
  out_.flush();
}

void TerminalReport::case_begins(const RunReport& report, const std::string& id) {
  if (!style_.progress) return;
  const Tally count = tally(report);
  const std::chrono::duration<double> age = std::chrono::steady_clock::now() - start_;
  std::string line = fmt::format(
      "{}/{}  {:.1f} s  {} failed  {}", report.results.size() + 1, report.num_planned, age.count(),
      count.of(Grade::kFail) + count.of(Grade::kStaleLine) + count.of(Grade::kHarness), id);
  if (line.size() >= style_.columns) line.resize(style_.columns - 1);
  erase_progress();
  out_ << line << std::flush;
  progress_shown_ = true;
}

void TerminalReport::case_ended(const RunReport& report, const GradedResult& graded) {
  if (graded.grade != Grade::kFail && graded.grade != Grade::kStaleLine &&
      graded.grade != Grade::kHarness)
    return;
  erase_progress();
  const std::string text = failure_text(graded, ledger_, registry_, report);
  const std::size_t head = text.find('\n');
  out_ << "\n" << painted(text.substr(0, head), Colour::kRed) << text.substr(head) << std::flush;
}

void TerminalReport::list(const RunReport& report, Grade grade, const std::string& title) {
  bool any = false;
  for (const GradedResult& graded : report.results) {
    if (graded.grade != grade) continue;
    if (!any) out_ << "\n" << title << "\n";
    any = true;
    const CaseResult& result = graded.result;
    const std::string why = graded.reason.empty() ? result.finding.actual : graded.reason;
    out_ << fmt::format("  {:<8} {}  # {}\n",
                        result.not_run ? "NOT RUN" : to_string(result.verdict), result.spec.id,
                        first_line(why));
  }
}

// Folded: a server without blend skips hundreds. The JSON report has each.
void TerminalReport::count_skipped(const RunReport& report) {
  std::map<std::string, int> by_reason;
  for (const GradedResult& graded : report.results)
    if (graded.grade == Grade::kSkipped) ++by_reason[first_line(graded.result.finding.actual)];
  if (by_reason.empty()) return;
  out_ << "\nskipped:\n";
  for (const auto& [reason, number] : by_reason)
    out_ << fmt::format("  {:>5}  {}\n", number, reason);
}

void TerminalReport::end(const RunReport& report) {
  erase_progress();
  const Tally count = tally(report);
  list(report, Grade::kNote, "rules that are no MUST and do not hold (they count with --strict):");
  list(report, Grade::kExpectedFailure,
       "failures as expected in " + report.expectations_file + ":");
  count_skipped(report);
  if (count.of(Verdict::kSkipped) > 0 && report.rerun_options.starts_with("--target"))
    out_ << "  kvconform doctor " << report.rerun_options << " says what is lacking, and why\n";
  if (count.of(Grade::kNotRun) > 0) {
    out_ << fmt::format("\n{} cases were NOT RUN:\n", count.of(Grade::kNotRun));
    for (const GradedResult& graded : report.results) {
      if (graded.grade != Grade::kNotRun) continue;
      out_ << fmt::format("  {} and all after it: {}\n", graded.result.spec.id,
                          graded.result.finding.actual);
      break;
    }
  }
  for (const std::string& failure : report.failures)
    out_ << "\n" << painted("FAILED: ", Colour::kRed) << failure << "\n";
  for (const std::string& problem : report.problems)
    out_ << "\n" << painted("PROBLEM: ", Colour::kRed) << problem << "\n";

  out_ << "\n";
  for (const Verdict verdict : {Verdict::kPass, Verdict::kWrong, Verdict::kSilent, Verdict::kDead,
                                Verdict::kSkipped, Verdict::kHarness})
    if (count.of(verdict) > 0)
      out_ << fmt::format("{} {}  ", count.of(verdict), to_string(verdict));
  if (report.num_checks > 0) out_ << fmt::format("{} checks  ", report.num_checks);
  out_ << fmt::format("in {:.1f} s\n", report.duration_s);
  out_ << fmt::format("score {}/{} required cases", count.required_passed, count.required);
  if (count.of(Grade::kExpectedFailure) > 0)
    out_ << fmt::format(", {} failures as expected", count.of(Grade::kExpectedFailure));
  out_ << "\n";
  const int code = exit_code(report);
  out_ << (code == 0 ? painted("conforms", Colour::kGreen)
           : code == 1
               ? painted("does not conform", Colour::kRed)
               : painted("no judgement: the harness or its use is at fault, or the run was ended "
                         "early",
                         Colour::kYellow));
  if (code == 0 && count.of(Grade::kExpectedFailure) > 0)
    out_ << ", but for the failures as expected";
  out_ << "\n" << std::flush;
}

}  // namespace kvc::conformance
