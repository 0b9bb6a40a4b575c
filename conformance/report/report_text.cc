// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/report/report_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvc::conformance {
namespace {

// The length of the well-formed UTF-8 sequence at the front of `text`, or 0. Overlong forms,
// surrogates and what is above U+10FFFF are not well formed (RFC 3629).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i, unsigned low = 0x80U, unsigned high = 0xbfU) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80U) return text.empty() ? 0 : 1;
  if (first >= 0xc2U && first <= 0xdfU) return follows(1) ? 2 : 0;
  if (first >= 0xe0U && first <= 0xefU) {
    const unsigned low = first == 0xe0U ? 0xa0U : 0x80U;
    const unsigned high = first == 0xedU ? 0x9fU : 0xbfU;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0U && first <= 0xf4U) {
    const unsigned low = first == 0xf0U ? 0x90U : 0x80U;
    const unsigned high = first == 0xf4U ? 0x8fU : 0xbfU;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20U && c != '\n' && c != '\t') || byte == 0x7fU;
}

std::string why_not_conforming(const RunReport& report, const Tally& count) {
  std::vector<std::string> parts;
  if (const int failed = count.of(Grade::kFail); failed > 0)
    parts.push_back(fmt::format("{} of {} required cases {}", failed, count.required,
                                failed == 1 ? "fails" : "fail"));
  if (const int stale = count.of(Grade::kStaleLine); stale > 0)
    parts.push_back(counted(static_cast<std::size_t>(stale), "line") + " of the expectations " +
                    (stale == 1 ? "is stale" : "are stale"));
  if (const int not_run = count.of(Grade::kNotRun); not_run > 0)
    parts.push_back(counted(static_cast<std::size_t>(not_run), "case") +
                    (not_run == 1 ? " was not run" : " were not run"));
  if (!report.failures.empty())
    parts.push_back(counted(report.failures.size(), "failure") + " came outside any case");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string counted(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string_view verdict_words(const RunReport& report) {
  if (!report.finished) return "not finished";
  const int code = exit_code(report);
  return code == 0 ? "conforms" : code == 1 ? "does not conform" : "no judgement";
}

std::string verdict_sentence(const RunReport& report) {
  const Tally count = tally(report);
  std::string server = report.server;
  if (server.rfind("the ", 0) == 0) server[0] = 'T';
  const std::string protocol =
      fmt::format("release {} of the LMCache multiprocess protocol", report.release);
  const int num_bad =
      count.of(Grade::kFail) + count.of(Grade::kStaleLine) + count.of(Grade::kHarness);
  if (!report.finished)
    return fmt::format(
        "No verdict yet on {}: {} of {} cases are judged, {} so far; either the run still goes "
        "on, or it was killed.",
        report.server, report.results.size(), report.num_planned,
        num_bad == 0 ? "none failed" : counted(static_cast<std::size_t>(num_bad), "failure"));
  const int code = exit_code(report);
  if (code == 2)
    return fmt::format("No judgement of {}: {}.", report.server,
                       report.ended_early ? "the run was ended before all was judged"
                                          : "the harness or its use is at fault");
  if (code == 1)
    return fmt::format("{} does not conform to {}: {}.", server, protocol,
                       why_not_conforming(report, count));
  if (const int expected = count.of(Grade::kExpectedFailure); expected > 0)
    return fmt::format("{} conforms to {} but for {} as expected: {} of {} required cases hold.",
                       server, protocol, counted(static_cast<std::size_t>(expected), "failure"),
                       count.required_passed, count.required);
  return fmt::format("{} conforms to {}: all {} required cases that apply to it hold.", server,
                     protocol, count.required);
}

std::string area_of(std::string_view case_id) {
  return std::string(case_id.substr(0, case_id.find('.')));
}

bool is_bad(Grade grade) {
  return grade == Grade::kFail || grade == Grade::kStaleLine || grade == Grade::kHarness;
}

std::vector<AreaScore> area_scores(const RunReport& report) {
  std::vector<AreaScore> out;
  for (const GradedResult& graded : report.results) {
    const std::string area = area_of(graded.result.spec.id);
    auto score = std::find_if(out.begin(), out.end(),
                              [&](const AreaScore& known) { return known.area == area; });
    if (score == out.end()) {
      out.push_back({});
      score = out.end() - 1;
      score->area = area;
    }
    const bool run = !graded.result.not_run;
    if (graded.required && !(run && graded.result.verdict == Verdict::kSkipped)) {
      ++score->required;
      if (run && graded.result.verdict == Verdict::kPass) ++score->required_passed;
    }
    score->failed += is_bad(graded.grade) ? 1 : 0;
    score->expected += graded.grade == Grade::kExpectedFailure ? 1 : 0;
    score->notes += graded.grade == Grade::kNote ? 1 : 0;
    score->skipped += graded.grade == Grade::kSkipped ? 1 : 0;
    score->not_run += graded.grade == Grade::kNotRun ? 1 : 0;
  }
  return out;
}

std::string clean_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0 || is_control(text[0]))
      out += "\xef\xbf\xbd";
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : clean_utf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace kvc::conformance
