// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <fmt/format.h>

#include "conformance/harness/message_text.h"
#include "conformance/report/html_report.h"
#include "conformance/report/report_text.h"

namespace kvc::conformance {
namespace {

constexpr std::size_t kFramesMax = 40;       // of a trace; the last ones tell most, repro/ has all
constexpr std::size_t kFramesUnfolded = 12;  // more of them hide the case below
constexpr std::size_t kTextBytesMax = 4000;  // of a text that a server had a hand in
constexpr std::size_t kWordsBytesMax = 600;  // of a decoded message
constexpr std::size_t kHexBytesMax = 48;     // of a frame

std::string_view verdict_name(const GradedResult& graded) {
  return graded.result.not_run ? "NOT RUN" : to_string(graded.result.verdict);
}

std::string css_class(const GradedResult& graded) {
  return graded.result.not_run ? "not-run" : std::string(to_string(graded.grade));
}

// What the filters and the links of a case hold on to.
std::string attributes(const GradedResult& graded) {
  const std::string id = html_escaped(graded.result.spec.id);
  return fmt::format(R"(id="case-{}" data-grade="{}" data-area="{}" data-level="{}")", id,
                     to_string(graded.grade), html_escaped(area_of(graded.result.spec.id)),
                     to_string(graded.level));
}

std::string head(const GradedResult& graded) {
  const std::string id = html_escaped(graded.result.spec.id);
  return fmt::format(
      "<span class=\"chip {}\">{}</span> <a class=\"id\" href=\"#case-{}\">{}</a> "
      "<span class=\"level\">{}</span>",
      css_class(graded), verdict_name(graded), id, id, to_string(graded.level));
}

std::string pre(std::string_view text) {
  return "<pre>" + html_escaped(shortened(text, kTextBytesMax)) + "</pre>";
}

std::string message_cell(const TraceEntry& entry, const Registry& registry) {
  const std::string words = entry.sent ? describe_request(registry, entry.frames)
                                       : describe_response(registry, entry.frames);
  return fmt::format(R"(<div class="words">{}</div><div class="hex">{}</div>)",
                     html_escaped(shortened(words, kWordsBytesMax)),
                     html_escaped(frames_hex(entry.frames, kHexBytesMax)));
}

// What went to the server on the left, what came back on the right, in the order of time.
std::string frames_table(const std::vector<TraceEntry>& trace, const Registry& registry) {
  const std::size_t first = trace.size() > kFramesMax ? trace.size() - kFramesMax : 0;
  std::string out =
      fmt::format("<details class=\"frames\"{}><summary>{}, decoded</summary>",
                  trace.size() <= kFramesUnfolded ? " open" : "", counted(trace.size(), "message"));
  if (first > 0) out += fmt::format("<p class=\"quiet\">{} before these are in repro/.</p>", first);
  out +=
      "<div class=\"scroll\"><table><thead><tr><th>ms</th><th>client</th><th>sent to the server"
      "</th><th>came from it</th></tr></thead><tbody>\n";
  for (std::size_t i = first; i < trace.size(); ++i) {
    const std::string cell = message_cell(trace[i], registry);
    out += fmt::format(
        "<tr><td class=\"number\">{:.1f}</td><td class=\"number\">{}</td><td>{}</td><td>{}</td>"
        "</tr>\n",
        trace[i].t_ms, trace[i].client, trace[i].sent ? cell : "", trace[i].sent ? "" : cell);
  }
  return out + "</tbody></table></div></details>\n";
}

std::string rule_html(const Requirement& rule) {
  const std::string id = html_escaped(rule.id);
  return fmt::format(
      R"(<div class="rule"><p><b>{}</b> <a class="id" href="#rule-{}">{}</a> {}</p>)"
      R"(<p class="quiet">Source: {}</p><p><b>Reading this failure:</b> {}</p></div>)"
      "\n",
      to_string(rule.level), id, id, html_escaped(rule.text), html_escaped(rule.source),
      html_escaped(rule.how_to_read));
}

std::string sides(const GradedResult& graded) {
  const Finding& finding = graded.result.finding;
  const bool holds = graded.result.verdict == Verdict::kPass;
  return fmt::format(
      R"(<div class="sides"><div><h4>Expected</h4>{}</div><div><h4>Actual</h4>{}</div></div>)"
      "\n",
      holds ? pre("a failure, as a line of the expectations says") : pre(finding.expected),
      holds ? pre("it holds: remove the line") : pre(finding.actual));
}

std::string full_case(const GradedResult& graded, const Ledger& ledger, const Registry& registry,
                      const RunReport& report) {
  const CaseResult& result = graded.result;
  std::string out = sides(graded);
  if (!result.finding.note.empty())
    out += fmt::format("<p><b>Where:</b> {}</p>\n", html_escaped(result.finding.note));
  for (const std::string& id : result.spec.proves)
    if (const Requirement* rule = ledger.find(id)) out += rule_html(*rule);
  if (!result.trace.empty()) out += frames_table(result.trace, registry);
  out += fmt::format(
      "<p class=\"again\"><b>See it again:</b> <code>{}</code> "
      "<button class=\"copy\" hidden>copy</button></p>\n",
      html_escaped(rerun_command(report, result.spec.id)));
  if (!report.repro_folder.empty() && !result.trace.empty() &&
      graded.grade != Grade::kExpectedFailure)
    out += fmt::format(
        "<p class=\"quiet\">Its frames, and a script that sends them without kvconform: "
        "<code>{}/{}/</code></p>\n",
        html_escaped(report.repro_folder), html_escaped(result.spec.id));
  return out;
}

std::string one_line(const GradedResult& graded) {
  const std::string why = graded.grade == Grade::kPass ? "" : graded.result.finding.actual;
  return fmt::format(
      "<div class=\"case line\" {}>{} <span class=\"claim\">{}</span>{}</div>\n",
      attributes(graded), head(graded), html_escaped(graded.result.spec.claim),
      why.empty() ? "" : " <span class=\"quiet\">" + html_escaped(shortened(why, 200)) + "</span>");
}

}  // namespace

std::string case_html(const GradedResult& graded, const Ledger& ledger, const Registry& registry,
                      const RunReport& report) {
  const Grade grade = graded.grade;
  if (grade == Grade::kPass || grade == Grade::kSkipped || grade == Grade::kNotRun)
    return one_line(graded);
  const std::string reason = graded.reason.empty() ? ""
                                                   : fmt::format("<p class=\"reason\">{}</p>\n",
                                                                 html_escaped(graded.reason));
  const std::string claim =
      fmt::format("<p class=\"claim\">{}</p>\n", html_escaped(graded.result.spec.claim));
  const std::string body = claim + reason + full_case(graded, ledger, registry, report);
  if (is_bad(grade))
    return fmt::format("<article class=\"case full\" {}>\n<h3>{}</h3>\n{}</article>\n",
                       attributes(graded), head(graded), body);
  return fmt::format(
      "<details class=\"case full\" {}>\n<summary>{} <span class=\"quiet\">{}</span></summary>\n"
      "{}</details>\n",
      attributes(graded), head(graded),
      html_escaped(graded.reason.empty() ? graded.result.spec.claim : graded.reason), body);
}

}  // namespace kvc::conformance
