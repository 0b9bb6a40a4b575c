// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/report/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "conformance/harness/version.h"
#include "conformance/report/page_assets.h"
#include "conformance/report/report_text.h"

namespace kvc::conformance {
namespace {

struct Group {
  Grade grade;
  const char* id;
  const char* title;
  const char* filter;  // as the filter's button calls it
  bool by_area;        // hundreds of lines: folded, an area each
};
constexpr Group kGroups[] = {
    {Grade::kFail, "failed", "What failed, and why", "failed", false},
    {Grade::kStaleLine, "stale", "Lines of the expectations that are no longer so", "stale", false},
    {Grade::kHarness, "harness", "Our own fault: the harness could not judge", "harness", false},
    {Grade::kExpectedFailure, "expected", "Failures as expected", "as expected", false},
    {Grade::kNote, "notes", "Rules that are no MUST and do not hold", "notes", false},
    {Grade::kNotRun, "not-run", "Not run", "not run", true},
    {Grade::kSkipped, "skipped", "Skipped: the server lacks what they need", "skipped", true},
    {Grade::kPass, "passed", "What holds", "passed", true},
};

int score_percent(int passed, int required) {
  return required == 0 ? 100 : passed * 100 / required;
}

std::string head_html(const RunReport& report) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n";
  out += fmt::format("<title>{}: {}</title>\n", verdict_words(report), html_escaped(report.server));
  out += "<style>\n" + std::string(page_css()) + "</style></head>\n";
  return out;
}

std::string_view verdict_class(const RunReport& report) {
  if (!report.finished) return "open";
  const int code = exit_code(report);
  return code == 0 ? "good" : code == 1 ? "bad" : "open";
}

std::string opening(const RunReport& report) {
  const Tally count = tally(report);
  std::string verdicts;
  for (const Verdict verdict : {Verdict::kPass, Verdict::kWrong, Verdict::kSilent, Verdict::kDead,
                                Verdict::kSkipped, Verdict::kHarness})
    if (count.of(verdict) > 0)
      verdicts += fmt::format("{} {}, ", count.of(verdict), to_string(verdict));
  return fmt::format(
      "<header class=\"{}\"><h1>{}</h1>\n"
      "<p>Score <b>{}/{}</b> required cases. {}in {:.1f} s. kvconform {}, seed {}, {}.</p>\n"
      "<button id=\"theme\" hidden>light or dark</button></header>\n",
      verdict_class(report), html_escaped(verdict_sentence(report)), count.required_passed,
      count.required, verdicts, report.duration_s, kSuiteVersion, report.seed,
      html_escaped(report.started_at));
}

// A column in which nothing stands is left out.
struct ScoreColumn {
  const char* title;
  int AreaScore::*number;
};
constexpr ScoreColumn kScoreColumns[] = {{"failed", &AreaScore::failed},
                                         {"as expected", &AreaScore::expected},
                                         {"notes", &AreaScore::notes},
                                         {"skipped", &AreaScore::skipped},
                                         {"not run", &AreaScore::not_run}};

std::string score_table(const RunReport& report) {
  const std::vector<AreaScore> scores = area_scores(report);
  std::vector<ScoreColumn> columns;
  for (const ScoreColumn& column : kScoreColumns)
    if (std::any_of(scores.begin(), scores.end(),
                    [&](const AreaScore& score) { return score.*column.number > 0; }))
      columns.push_back(column);
  std::string out =
      "<section id=\"score\"><h2>Score by area</h2><div class=\"scroll\"><table>\n<thead><tr>"
      "<th>area</th><th>required that hold</th>";
  for (const ScoreColumn& column : columns) out += fmt::format("<th>{}</th>", column.title);
  out += "</tr></thead><tbody>\n";
  for (const AreaScore& score : scores) {
    const std::string area = html_escaped(score.area);
    out += fmt::format(
        "<tr class=\"{}\"><td><a class=\"area\" data-filter-area=\"{}\" href=\"#cases\">{}</a>"
        "</td><td>{}",
        score.failed > 0 ? "bad" : "", area, area,
        score.required == 0
            ? "<span class=\"quiet\">none applies</span>"
            : fmt::format("<meter max=\"100\" value=\"{}\" aria-hidden=\"true\"></meter> {}/{}",
                          score_percent(score.required_passed, score.required),
                          score.required_passed, score.required));
    for (const ScoreColumn& column : columns) {
      const int number = score.*column.number;
      out += "</td><td class=\"number\">" + (number == 0 ? "" : std::to_string(number));
    }
    out += "</td></tr>\n";
  }
  return out + "</tbody></table></div></section>\n";
}

std::string outside_cases(const RunReport& report) {
  if (report.failures.empty() && report.problems.empty()) return "";
  std::string out = "<section id=\"outside\"><h2>Outside any case</h2>\n";
  for (const std::string& failure : report.failures)
    out += "<p class=\"reason\"><b>Failed:</b> " + html_escaped(failure) + "</p>\n";
  for (const std::string& problem : report.problems)
    out += "<p class=\"reason\"><b>Problem:</b> " + html_escaped(problem) + "</p>\n";
  return out + "</section>\n";
}

// Without scripts it stays hidden: it would do nothing.
std::string filters(const RunReport& report) {
  const Tally count = tally(report);
  std::string out = "<form id=\"filters\" hidden><fieldset><legend>Show</legend>\n";
  for (const Group& group : kGroups)
    if (count.of(group.grade) > 0)
      out += fmt::format(
          "<label><input type=\"checkbox\" name=\"grade\" value=\"{}\" checked> {} {}</label>\n",
          to_string(group.grade), count.of(group.grade), group.filter);
  out += "</fieldset><label>area <select name=\"area\"><option value=\"\">all</option>";
  for (const AreaScore& score : area_scores(report))
    out += fmt::format("<option>{}</option>", html_escaped(score.area));
  out +=
      "</select></label>\n<label>level <select name=\"level\"><option value=\"\">all</option>"
      "<option>MUST</option><option>SHOULD</option><option>MAY</option></select></label>\n"
      "<label>text <input type=\"search\" name=\"text\" placeholder=\"id, claim, frame\"></label>\n"
      "<button type=\"reset\">all</button> <output></output></form>\n";
  return out;
}

std::string about(const RunReport& report) {
  std::string out = "<footer><h2>How it was judged</h2>\n";
  const auto row = [&](const char* name, const std::string& value) {
    if (!value.empty()) out += fmt::format("<p><b>{}:</b> {}</p>\n", name, html_escaped(value));
  };
  row("Server",
      report.server + (report.server_version.empty() ? "" : ", version " + report.server_version));
  row("It has", report.command == "run" ? report.capabilities.text()
                                        : fmt::format("{}", fmt::join(report.implemented, ", ")));
  row("Called as", fmt::format("kvconform {}", fmt::join(report.arguments, " ")));
  row("Expectations", report.expectations_file);
  row("Strict", report.strict ? "yes: SHOULD rules count" : "");
  out +=
      "<p class=\"quiet\">Verdicts: PASS; WRONG, an answer that is not the right one; SILENT, none "
      "where one is due; DEAD, the server no longer answers; SKIPPED, a capability is missing; "
      "HARNESS, our own fault.</p>\n";
  return out + "</footer>\n";
}

}  // namespace

void HtmlReport::render_new_cases(const RunReport& report) {
  for (std::size_t i = cases_.size(); i < report.results.size(); ++i)
    cases_.push_back(case_html(report.results[i], ledger_, registry_, report));
}

std::string HtmlReport::group(const RunReport& report, Grade grade, const std::string& id,
                              const std::string& title, bool by_area) const {
  std::vector<std::pair<std::string, std::string>> parts;  // an area, or all under ""
  std::map<std::string, std::size_t> counts;
  std::size_t count = 0;
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    if (report.results[i].grade != grade) continue;
    ++count;
    const std::string area = by_area ? area_of(report.results[i].result.spec.id) : "";
    auto part = std::find_if(parts.begin(), parts.end(),
                             [&](const auto& known) { return known.first == area; });
    if (part == parts.end()) part = parts.insert(parts.end(), {area, ""});
    part->second += cases_[i];
    ++counts[area];
  }
  if (count == 0) return "";
  std::string out = fmt::format("<section class=\"group\" id=\"{}\"><h2>{} <span>{}</span></h2>\n",
                                id, title, count);
  for (const auto& [area, content] : parts)
    out += by_area ? fmt::format(
                         "<details class=\"fold\"><summary>{} <span>{}</span></summary>\n"
                         "{}</details>\n",
                         html_escaped(area), counts[area], content)
                   : content;
  return out + "</section>\n";
}

std::string HtmlReport::rules(const RunReport& report) const {
  struct Outcome {
    int held = 0;
    int not_held = 0;
  };
  std::map<std::string, Outcome> outcomes;
  for (const GradedResult& graded : report.results) {
    if (graded.result.not_run || graded.result.verdict == Verdict::kSkipped) continue;
    for (const std::string& id : graded.result.spec.proves)
      ++(graded.result.verdict == Verdict::kPass ? outcomes[id].held : outcomes[id].not_held);
  }
  std::string out =
      "<section id=\"rules\"><h2>The rules</h2><details class=\"fold\"><summary>each with the "
      "number of its cases that hold</summary>\n";
  for (const Requirement& rule : ledger_.requirements()) {
    const Outcome outcome = outcomes[rule.id];
    const int total = outcome.held + outcome.not_held;
    out += fmt::format(
        "<div class=\"line\" id=\"rule-{0}\"><span class=\"chip {1}\">{2}</span> <span "
        "class=\"id\">{0}</span> <span class=\"level\">{3}</span> {4}</div>\n",
        html_escaped(rule.id),
        total == 0             ? "skipped"
        : outcome.not_held > 0 ? "fail"
                               : "pass",
        total == 0 ? "not judged" : fmt::format("{}/{}", outcome.held, total),
        to_string(rule.level), html_escaped(rule.text));
  }
  return out + "</details></section>\n";
}

std::string HtmlReport::page(const RunReport& report) {
  render_new_cases(report);
  std::string out = head_html(report) + "<body>\n" + opening(report) + "<main>\n";
  out += score_table(report) + outside_cases(report) + filters(report);
  out += "<div id=\"cases\">\n";
  for (const Group& part : kGroups)
    out += group(report, part.grade, part.id, part.title, part.by_area);
  out += "</div>\n" + rules(report) + "</main>\n" + about(report);
  out += "<script>\n" + std::string(page_js()) + "</script>\n</body></html>\n";
  return out;
}

}  // namespace kvc::conformance
