// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// CaseResult: what came of one case, before anybody weighs it.
#pragma once

#include <string>
#include <vector>

#include "conformance/harness/case.h"
#include "conformance/harness/trace.h"
#include "conformance/harness/verdict.h"

namespace kvc::conformance {

struct CaseResult {
  CaseSpec spec;
  Verdict verdict = Verdict::kPass;
  bool not_run = false;  // then finding.actual says why, and verdict means nothing
  Finding finding;       // of everything but a pass
  double duration_ms = 0;
  std::vector<TraceEntry> trace;  // of a case that failed
};

}  // namespace kvc::conformance
