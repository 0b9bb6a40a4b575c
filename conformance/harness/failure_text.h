// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Failure text: one failed case, told so that its reader needs nothing else: what was expected and
// what came, the frames, the rule with its source, how to read it, and how to see it again. Pure.
#pragma once

#include <string>

#include "conformance/harness/ledger.h"
#include "conformance/harness/report.h"
#include "kvc/protocol/registry.h"

namespace kvc::conformance {

std::string failure_text(const GradedResult& graded, const Ledger& ledger, const Registry& registry,
                         const RunReport& report);

// One line of it, as JUnit's message: "WRONG: expected …; actual …".
std::string failure_line(const CaseResult& result);

// "> 1  02|0c  PING uid=2 ()": one frame of a trace, in at most `columns_max` columns.
std::string trace_line(const TraceEntry& entry, const Registry& registry,
                       std::size_t columns_max = 200);

}  // namespace kvc::conformance
