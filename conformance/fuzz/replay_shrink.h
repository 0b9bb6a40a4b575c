// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ReplayShrinker: the fewest messages of a replay file by which a server still does what it did:
// each candidate is replayed, on a server started anew where that is quick. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "conformance/fuzz/server_keeper.h"
#include "conformance/fuzz/shrink.h"
#include "conformance/harness/replay.h"

namespace kvc::conformance {

enum class ShrinkUntil {
  kDead,     // the server no longer answers NOOP
  kSilent,   // it lives, and a reply that was recorded does not come; or, where the file's verdict
             // is SILENT, the last legal request without a recorded reply stays without one
  kDiffers,  // it lives, and a reply comes that is not as recorded, or was not recorded
  kSame,     // it lives, and the last recorded reply comes as recorded
};
std::string_view to_string(ShrinkUntil until);  // "dead", "silent", "differs", "same"

// Empty: what the verdict stands for: DEAD dead, SILENT silent, WRONG same. Throws UsageError.
ShrinkUntil until_of(const std::string& name, const ReplayHeader& header);

struct ShrunkReplay {
  ReplayFile file;
  std::size_t num_messages = 0;  // sent
  std::size_t num_tries = 0;
  bool given_up = false;
};

class ReplayShrinker {
 public:
  // The first two outlive the shrinker.
  ReplayShrinker(RunContext& context, ServerKeeper& keeper, ReplayFile file, ShrinkUntil until);

  // Nothing: the whole file does not show it. Throws ServerError, Interrupted.
  std::optional<ShrunkReplay> run(double budget_s);

  std::size_t num_messages() const { return steps_.size(); }

 private:
  ReplayFile file_of(const Steps& steps) const;
  bool shows(const Steps& steps, bool fresh);
  bool stays_silent(const Steps& steps, const ReplayOutcome& outcome) const;

  RunContext& context_;
  ServerKeeper& keeper_;
  ReplayFile file_;
  ShrinkUntil until_;
  Steps steps_;                            // the sent messages
  std::vector<std::size_t> owner_;         // of each entry, the step that it belongs to
  std::optional<std::size_t> unanswered_;  // the step that kSilent means
};

}  // namespace kvc::conformance
