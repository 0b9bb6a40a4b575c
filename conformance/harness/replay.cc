// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/replay.h"

#include <fmt/format.h>

#include <map>

#include "conformance/harness/client.h"
#include "conformance/harness/failure_text.h"
#include "conformance/harness/probe.h"

namespace kvc::conformance {
namespace {

// What comes late and is not waited for by a recorded reply.
constexpr std::chrono::milliseconds kLate{200};

}  // namespace

ReplayOutcome replay(RunContext& context, const ReplayFile& file, std::ostream& out) {
  ReplayOutcome outcome;
  std::map<int, Client> clients;
  const auto client = [&](int number) -> Client& {
    return clients.try_emplace(number, context).first->second;
  };
  const auto show = [&](std::string_view what, int number, bool sent, const Frames& frames) {
    out << fmt::format("{:<7}", what)
        << trace_line({0, number, sent, frames}, context.registry(), 1000).substr(11) << "\n";
  };
  for (const TraceEntry& entry : file.entries) {
    if (entry.sent) {
      show("sent", entry.client, true, entry.frames);
      client(entry.client).send_frames(entry.frames);
      continue;
    }
    show("then", entry.client, false, entry.frames);
    const std::optional<Reply> reply = client(entry.client).receive(context.settings().timeout);
    if (!reply) {
      ++outcome.missing;
      out << "now    nothing\n";
    } else {
      ++(reply->frames == entry.frames ? outcome.same : outcome.other);
      show("now", entry.client, false, reply->frames);
    }
  }
  for (auto& [number, late] : clients)
    while (const std::optional<Reply> reply = late.receive(kLate)) {
      ++outcome.more;
      show("more", number, false, reply->frames);
    }
  const std::optional<std::string> death = death_of_server(context);
  outcome.alive = !death;
  out << fmt::format("replies: {} the same, {} other, {} missing, {} more; {}\n", outcome.same,
                     outcome.other, outcome.missing, outcome.more,
                     death ? "the server is dead: " + *death : "the server lives");
  return outcome;
}

}  // namespace kvc::conformance
