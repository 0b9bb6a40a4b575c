// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/json_report.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>

#include "conformance/harness/version.h"

namespace kvc::conformance {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFrameBytesMax = 4096;  // shown of a frame; repro/ has them whole

Json frame_json(const Bytes& frame) {
  if (frame.size() <= kFrameBytesMax) return to_hex(frame);
  const ByteView head = ByteView(frame).first(kFrameBytesMax);
  return {{"first", to_hex(head)}, {"bytes", frame.size()}};
}

Json trace_json(const std::vector<TraceEntry>& trace) {
  Json out = Json::array();
  for (const TraceEntry& entry : trace) {
    Json frames = Json::array();
    for (const Bytes& frame : entry.frames) frames.push_back(frame_json(frame));
    out.push_back({{"t_ms", entry.t_ms},
                   {"client", entry.client},
                   {"dir", entry.sent ? ">" : "<"},
                   {"frames", frames}});
  }
  return out;
}

Json case_json(const GradedResult& graded) {
  const CaseResult& result = graded.result;
  const bool run = !result.not_run;
  Json out = {{"id", result.spec.id},
              {"claim", result.spec.claim},
              {"requirements", result.spec.proves},
              {"level", to_string(graded.level)},
              {"required", graded.required},
              {"verdict", run ? Json(to_string(result.verdict)) : Json(nullptr)},
              {"grade", to_string(graded.grade)},
              {"ms", result.duration_ms}};
  if (!run) {
    out["not_run"] = result.finding.actual;
  } else if (result.verdict != Verdict::kPass) {
    out["expected"] = result.finding.expected;
    out["actual"] = result.finding.actual;
    if (!result.finding.note.empty()) out["note"] = result.finding.note;
  }
  if (!graded.reason.empty()) out["reason"] = graded.reason;
  if (!result.trace.empty()) out["frames"] = trace_json(result.trace);
  return out;
}

Json capabilities_json(const Capabilities& capabilities, const std::string& release) {
  Json out;
  for (int i = 0; i < kNumCapabilities; ++i) {
    const auto capability = static_cast<Capability>(i);
    out[std::string(to_string(capability))] = capabilities.has(capability);
  }
  Json types;
  if (const Registry* registry = find_registry(release))
    for (const Definition& definition : registry->definitions())
      types[std::string(to_string(definition.type))] =
          to_string(capabilities.answer(definition.type));
  out["request_types"] = types;
  return out;
}

Json host_json() {
  utsname name{};
  ::uname(&name);
  return {{"name", name.nodename},
          {"system", name.sysname},
          {"release", name.release},
          {"machine", name.machine}};
}

Json summary_json(const RunReport& report) {
  const Tally count = tally(report);
  Json verdicts;
  for (const Verdict verdict : {Verdict::kPass, Verdict::kWrong, Verdict::kSilent, Verdict::kDead,
                                Verdict::kSkipped, Verdict::kHarness})
    verdicts[std::string(to_string(verdict))] = count.of(verdict);
  return {{"planned", report.num_planned},
          {"judged", report.results.size() - static_cast<std::size_t>(count.of(Grade::kNotRun))},
          {"required", count.required},
          {"required_passed", count.required_passed},
          {"failed", count.of(Grade::kFail)},
          {"expected_failures", count.of(Grade::kExpectedFailure)},
          {"stale_lines", count.of(Grade::kStaleLine)},
          {"notes", count.of(Grade::kNote)},
          {"not_run", count.of(Grade::kNotRun)},
          {"verdicts", verdicts},
          {"exit_code", exit_code(report)}};
}

}  // namespace

Json json_report(const RunReport& report, const Ledger& ledger) {
  Json cases = Json::array();
  for (const GradedResult& graded : report.results) cases.push_back(case_json(graded));
  Json requirements = Json::array();
  for (const Requirement& requirement : ledger.requirements())
    requirements.push_back({{"id", requirement.id},
                            {"level", to_string(requirement.level)},
                            {"text", requirement.text},
                            {"source", requirement.source}});
  return {{"schema_version", kReportSchemaVersion},
          {"tool", "kvconform"},
          {"suite_version", kSuiteVersion},
          {"release", report.release},
          {"server", report.server},
          {"server_version", report.server_version},
          {"host", host_json()},
          {"started_at", report.started_at},
          {"duration_s", report.duration_s},
          {"finished", report.finished},
          {"ended_early", report.ended_early},
          {"seed", report.seed},
          {"strict", report.strict},
          {"arguments", report.arguments},
          {"expectations", report.expectations_file},
          {"command", report.command},
          {"capabilities", report.command == "run"
                               ? capabilities_json(report.capabilities, report.release)
                               : Json::object()},
          {"implemented", report.implemented},
          {"num_checks", report.num_checks},
          {"summary", summary_json(report)},
          {"failures", report.failures},
          {"problems", report.problems},
          {"requirements", requirements},
          {"cases", cases}};
}

std::string dumped(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_whole_file(const std::string& path, const std::string& content) {
  const std::string draft = path + ".part";
  errno = 0;
  {
    std::ofstream file(draft, std::ios::binary);
    file << content;
    file.close();
    if (!file) throw std::system_error(errno, std::generic_category(), "write " + draft);
  }
  if (std::rename(draft.c_str(), path.c_str()) != 0)
    throw std::system_error(errno, std::generic_category(), "rename " + draft + " to " + path);
}

}  // namespace kvc::conformance
