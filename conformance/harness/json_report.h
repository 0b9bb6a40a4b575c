// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// JSON report: a run as one document, schema_version 1. Fields are added, never renamed or given
// another meaning, within a schema version.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "conformance/harness/ledger.h"
#include "conformance/harness/report.h"

namespace kvc::conformance {

inline constexpr int kReportSchemaVersion = 1;

nlohmann::ordered_json json_report(const RunReport& report, const Ledger& ledger);

// Writes to a file beside `path` and renames it, so that `path` is whole at any time. Throws
// std::system_error.
void write_whole_file(const std::string& path, const std::string& content);

std::string dumped(const nlohmann::ordered_json& json);  // never throws: bad UTF-8 is replaced

}  // namespace kvc::conformance
