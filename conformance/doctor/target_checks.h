// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What a server can do, as far as harmless requests tell: who listens at its endpoint, which
// release it speaks, and the capabilities that decide which cases are run (capabilities.h: one
// chunk is stored, under a model of its own).
#pragma once

#include "conformance/doctor/check_list.h"
#include "conformance/harness/run_context.h"

namespace kvc::conformance {

// `context` has the endpoint, and a device unless the host device is not to be tried. With `quick`
// it ends when NOOP is answered: a health check.
CheckList check_target(RunContext& context, bool quick);

}  // namespace kvc::conformance
