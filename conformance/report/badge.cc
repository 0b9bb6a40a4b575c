// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/report/badge.h"

#include <fmt/format.h>

namespace kvc::conformance {

nlohmann::ordered_json badge_json(const RunReport& report) {
  const Tally count = tally(report);
  const std::string score = fmt::format("{}/{}", count.required_passed, count.required);
  std::string message = score;
  std::string colour = "brightgreen";
  const int code = exit_code(report);
  if (!report.finished || code == 2) {
    message = report.finished ? "no judgement" : "unfinished";
    colour = "lightgrey";
  } else if (code == 1) {
    colour = "red";
  } else if (count.of(Grade::kExpectedFailure) > 0) {
    message += fmt::format(", {} known failures", count.of(Grade::kExpectedFailure));
    colour = "yellowgreen";
  }
  return {{"schemaVersion", 1},
          {"label", "LMCache protocol " + report.release},
          {"message", message},
          {"color", colour},
          {"isError", report.finished && code != 0}};
}

}  // namespace kvc::conformance
