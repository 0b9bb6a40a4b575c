// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Diff text: the diff of two reports as people read it, on a terminal and in a pull request. Pure.
#pragma once

#include <string>

#include "conformance/report/report_diff.h"

namespace kvc::conformance {

std::string diff_text(const LoadedReport& before, const LoadedReport& now, const ReportDiff& diff);
std::string diff_markdown(const LoadedReport& before, const LoadedReport& now,
                          const ReportDiff& diff);

}  // namespace kvc::conformance
