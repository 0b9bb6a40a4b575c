// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// The cases that deliberate flaws of kvserver have shown to be missing (ci/mutants).
#pragma once

#include "conformance/harness/case.h"

namespace kvc::conformance {

void add_near_miss_cases(CaseList& cases);
void add_moment_cases(CaseList& cases);

}  // namespace kvc::conformance
