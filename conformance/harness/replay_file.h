// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Replay files (.kvr): what went over the wire, so that it can be sent again: failures, findings of
// `kvconform fuzz`, captured traffic, golden messages. Text, a JSON document a line:
//   {"kvr": 2, "case": "Envelope.X", "release": "0.4.5", "verdict": "DEAD", "seed": 7, …}
//   {"t_ms": 0.1, "client": 1, "dir": ">", "frames": ["01", "0e"]}
//   {"t_ms": 0.4, "client": 1, "dir": "<", "frames": ["01", "0e", "a24f4b"]}
// The first line describes ("alive": a message by which a script asks whether the server lives);
// each further one is a message, ">" to the server and "<" from it, with all its frames, as
// frame_json.h writes them (version 1 had plain hex only, and is read too). A client is a DEALER
// socket of its own. The lines are in the order in which things happened, of all clients; t_ms is
// the time since the first, and may be missing. Unknown fields are to be ignored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/harness/trace.h"
#include "kvc/protocol/result.h"

namespace kvc::conformance {

inline constexpr int kReplayVersion = 2;

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

// Paths of errors name the line and the place in it: "line 3: $.frames[1]".
Result<ReplayFile> read_replay(const std::string& text);

// The same, or a file of golden/messages: each request and its reply, of one client. Whether
// `text` begins like either can be asked first.
bool is_replay(const std::string& text);
bool is_golden_messages(const std::string& text);
Result<ReplayFile> read_golden_messages(const std::string& text);
Result<ReplayFile> read_replay_or_golden(const std::string& text);

}  // namespace kvc::conformance
