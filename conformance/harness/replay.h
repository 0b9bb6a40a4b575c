// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Replay: sends the messages of a replay file to a server again, in their order, each client of
// then a client of now, and shows what comes beside what came then. A recorded reply is waited for
// in its place, so the order among clients stays; it is known by its uid, whatever else comes
// before it.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "conformance/harness/replay_file.h"
#include "conformance/harness/run_context.h"

namespace kvc::conformance {

struct ReplayOptions {
  bool timing = false;  // each message at the time at which it was sent, not as soon as possible
};

struct ReplayOutcome {
  int same = 0;       // replies that came as then: byte for byte, but for the handle of an event
  int other = 0;      // that came otherwise
  int missing = 0;    // that did not come
  int more = 0;       // that came and did not then
  bool alive = true;  // NOOP from a new client is answered
  bool last_same = false;  // the last recorded reply came as then
  std::string death;
  std::vector<TraceEntry> extra;  // the replies of `more`

  bool as_recorded() const { return alive && other == 0 && missing == 0 && more == 0; }
};

// context has the endpoint; its timeout is waited for each reply that came then. The trace of the
// context is what is sent and comes now.
ReplayOutcome replay(RunContext& context, const ReplayFile& file, std::ostream& out,
                     const ReplayOptions& options = {});

// Equal byte for byte, or results of a transfer that differ in the handle only.
bool same_reply(const Registry& registry, const Frames& then, const Frames& now);

}  // namespace kvc::conformance
