// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// `kvconform replay`: sends the messages of a replay file to a server again, in their order, each
// client of then a client of now, and shows what comes beside what came then.
#pragma once

#include <ostream>

#include "conformance/harness/replay_file.h"
#include "conformance/harness/run_context.h"

namespace kvc::conformance {

struct ReplayOutcome {
  int same = 0;     // replies that came byte for byte as then
  int other = 0;    // that came otherwise
  int missing = 0;  // that did not come
  int more = 0;     // that came and did not then
  bool alive = true;
};

// context has the endpoint; its timeout is waited for each reply that came then.
ReplayOutcome replay(RunContext& context, const ReplayFile& file, std::ostream& out);

}  // namespace kvc::conformance
