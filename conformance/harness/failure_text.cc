// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/failure_text.h"

#include <fmt/format.h>

#include "conformance/harness/message_text.h"

namespace kvc::conformance {
namespace {

constexpr std::size_t kFramesMax = 12;  // of a trace; the last ones tell most

// Cut by bytes, but not within a UTF-8 sequence.
std::string cut(std::string text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return text.substr(0, end) + "…";
}

// "  expected   …", further lines below the first.
std::string field(std::string_view name, const std::string& text) {
  std::string out = fmt::format("  {:<10} ", name);
  for (const char c : text) {
    out += c;
    if (c == '\n') out += std::string(13, ' ');
  }
  return out + "\n";
}

std::string frames_field(const std::vector<TraceEntry>& trace, const Registry& registry) {
  const std::size_t first = trace.size() > kFramesMax ? trace.size() - kFramesMax : 0;
  std::string text;
  if (first > 0) text += fmt::format("({} before these)\n", first);
  for (std::size_t i = first; i < trace.size(); ++i)
    text += (i > first ? "\n" : "") + trace_line(trace[i], registry);
  return field("frames", text);
}

}  // namespace

std::string trace_line(const TraceEntry& entry, const Registry& registry, std::size_t columns_max) {
  const std::string words = entry.sent ? describe_request(registry, entry.frames)
                                       : describe_response(registry, entry.frames);
  return cut(fmt::format("{:8.1f} ms  client {} {} {}  {}", entry.t_ms, entry.client,
                         entry.sent ? '>' : '<', frames_hex(entry.frames, 24), words),
             columns_max);
}

std::string failure_line(const CaseResult& result) {
  return fmt::format("{}: expected {}; actual {}{}", to_string(result.verdict),
                     result.finding.expected, result.finding.actual,
                     result.finding.note.empty() ? "" : " (" + result.finding.note + ")");
}

std::string failure_text(const GradedResult& graded, const Ledger& ledger, const Registry& registry,
                         const RunReport& report) {
  const CaseResult& result = graded.result;
  std::string out =
      fmt::format("{} {}{}\n", to_string(result.verdict), result.spec.id,
                  graded.grade == Grade::kStaleLine ? "  (" + graded.reason + ")" : "");
  out += field("claim", result.spec.claim);
  if (result.verdict == Verdict::kPass) return out + field("actual", "it holds: remove the line");
  out += field("expected", result.finding.expected);
  out += field("actual", result.finding.actual);
  if (!result.finding.note.empty()) out += field("where", result.finding.note);
  if (!result.trace.empty()) out += frames_field(result.trace, registry);
  for (const std::string& id : result.spec.proves) {
    const Requirement* requirement = ledger.find(id);
    if (requirement == nullptr) continue;
    out += field("rule", fmt::format("{} ({}): {}\nsource: {}", to_string(requirement->level), id,
                                     requirement->text, requirement->source));
    out += field("reading", requirement->how_to_read);
  }
  out += field("again", rerun_command(report, result.spec.id));
  if (!report.repro_folder.empty() && !result.trace.empty())
    out += field("frames in", report.repro_folder + "/" + result.spec.id + "/");
  if (!report.server_log.empty() && result.verdict == Verdict::kDead)
    out += field("server log", report.server_log);
  return out;
}

}  // namespace kvc::conformance
