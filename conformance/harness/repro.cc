// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/repro.h"

#include <filesystem>

#include "conformance/harness/json_report.h"
#include "conformance/harness/replay_script.h"

namespace kvc::conformance {

void write_repro_folder(const std::string& folder, const ReplayFile& replay) {
  std::filesystem::create_directories(folder);
  write_whole_file(folder + "/frames.kvr", write_replay(replay));
  write_whole_file(folder + "/replay.py", std::string(replay_script()));
}

void write_repro(const RunReport& report, const CaseResult& result) {
  ReplayFile replay;
  replay.header = {
      result.spec.id,          report.release,        std::string(to_string(result.verdict)),
      result.finding.expected, result.finding.actual, report.seed};
  replay.entries = result.trace;
  write_repro_folder((std::filesystem::path(report.repro_folder) / result.spec.id).string(),
                     replay);
}

}  // namespace kvc::conformance
