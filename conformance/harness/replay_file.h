// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Replay files (.kvr): what went over the wire, so that it can be sent again. Text, a JSON document
// a line:
//   {"kvr": 1, "case": "Envelope.X", "release": "0.4.5", "verdict": "DEAD", "seed": 7, …}
//   {"t_ms": 0.1, "client": 1, "dir": ">", "frames": ["01", "0e"]}
//   {"t_ms": 0.4, "client": 1, "dir": "<", "frames": ["01", "0e", "a24f4b"]}
// The first line describes; each further one is a message, ">" to the server and "<" from it,
// frames in hex, whole. A client is a DEALER socket of its own. Unknown fields are to be ignored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/harness/trace.h"
#include "kvc/protocol/result.h"

namespace kvc::conformance {

inline constexpr int kReplayVersion = 1;

struct ReplayHeader {
  std::string id;  // of the case; may be empty
  std::string release;
  std::string verdict;
  std::string expected;
  std::string actual;
  std::uint64_t seed = 0;
};

struct ReplayFile {
  ReplayHeader header;
  std::vector<TraceEntry> entries;
};

std::string write_replay(const ReplayFile& replay);
// The same a line at a time, for who writes while the traffic goes on.
std::string write_replay_header(const ReplayHeader& header);
std::string write_replay_entry(const TraceEntry& entry);

// Paths of errors name the line: "line 3".
Result<ReplayFile> read_replay(const std::string& text);

}  // namespace kvc::conformance
