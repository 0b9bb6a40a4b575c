// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <thread>

#include "conformance/harness/client.h"
#include "conformance/harness/failure_text.h"
#include "conformance/harness/probe.h"
#include "kvc/protocol/codec.h"
#include "kvc/protocol/envelope.h"

namespace kvc::conformance {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// What comes late and is not waited for by a recorded reply.
constexpr milliseconds kLate{200};
// How much earlier than its time a wait looks whether the replay is to end.
constexpr milliseconds kSlice{50};

// A client, and what has come for it and is not yet asked for.
struct Player {
  explicit Player(RunContext& context) : client(context) {}

  // The reply with the uid of `then`, within `wait`.
  std::optional<Frames> reply_like(const Frames& then, milliseconds wait) {
    const Clock::time_point end = Clock::now() + wait;
    while (true) {
      const auto found = std::find_if(waiting.begin(), waiting.end(), [&](const Frames& reply) {
        return then.empty() ? reply.empty() : !reply.empty() && reply[0] == then[0];
      });
      if (found != waiting.end()) {
        Frames reply = std::move(*found);
        waiting.erase(found);
        return reply;
      }
      const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
      std::optional<Reply> reply = client.receive(std::max(left, milliseconds(0)));
      if (!reply) return std::nullopt;
      waiting.push_back(std::move(reply->frames));
    }
  }

  Client client;
  std::deque<Frames> waiting;
};

class Replay {
 public:
  Replay(RunContext& context, std::ostream& out, const ReplayOptions& options)
      : context_(context), out_(out), options_(options), start_(Clock::now()) {}

  ReplayOutcome run(const ReplayFile& file) {
    for (const TraceEntry& entry : file.entries) {
      if (entry.sent)
        send(entry);
      else
        await(entry);
    }
    take_the_rest();
    if (outcome_.alive) note_death();
    out_ << fmt::format(
        "replies: {} the same, {} other, {} missing, {} more; {}\n", outcome_.same, outcome_.other,
        outcome_.missing, outcome_.more,
        outcome_.alive ? "the server lives" : "the server is dead: " + outcome_.death);
    return outcome_;
  }

 private:
  Player& player(int number) { return players_.try_emplace(number, context_).first->second; }

  void show(std::string_view what, int number, bool sent, const Frames& frames) {
    out_ << fmt::format("{:<7}", what)
         << trace_line({0, number, sent, frames}, context_.registry(), 1000).substr(11) << "\n";
  }

  void send(const TraceEntry& entry) {
    if (options_.timing) {
      const auto due = start_ + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double, std::milli>(entry.t_ms));
      while (Clock::now() < due) {
        if (context_.interrupted()) throw Interrupted{};
        std::this_thread::sleep_until(std::min(due, Clock::now() + kSlice));
      }
    }
    show("sent", entry.client, true, entry.frames);
    player(entry.client).client.send_frames(entry.frames);
  }

  void await(const TraceEntry& entry) {
    show("then", entry.client, false, entry.frames);
    // Of a dead server only what is on its way already can come.
    const milliseconds wait = outcome_.alive ? context_.settings().timeout : milliseconds(0);
    const std::optional<Frames> now = player(entry.client).reply_like(entry.frames, wait);
    outcome_.last_same = now && same_reply(context_.registry(), entry.frames, *now);
    if (!now) {
      ++outcome_.missing;
      out_ << "now    nothing\n";
      if (outcome_.alive) note_death();
      return;
    }
    ++(outcome_.last_same ? outcome_.same : outcome_.other);
    show("now", entry.client, false, *now);
  }

  void take_the_rest() {
    for (auto& [number, late] : players_) {
      if (outcome_.alive)
        while (std::optional<Reply> reply = late.client.receive(kLate))
          late.waiting.push_back(std::move(reply->frames));
      for (const Frames& frames : late.waiting) {
        ++outcome_.more;
        outcome_.extra.push_back({0, number, false, frames});
        show("more", number, false, frames);
      }
    }
  }

  void note_death() {
    const std::optional<std::string> death = death_of_server(context_);
    outcome_.alive = !death;
    outcome_.death = death.value_or("");
  }

  RunContext& context_;
  std::ostream& out_;
  ReplayOptions options_;
  Clock::time_point start_;
  std::map<int, Player> players_;
  ReplayOutcome outcome_;
};

}  // namespace

bool same_reply(const Registry& registry, const Frames& then, const Frames& now) {
  if (then == now) return true;
  if (then.size() != 3 || now.size() != 3 || then[0] != now[0] || then[1] != now[1]) return false;
  const Result<const Definition*> type = decode_type_frame(registry, now[1]);
  if (!type || (*type)->result != WireType::kTransferResult) return false;
  const Result<TransferResult> before = decode<TransferResult>(then[2]);
  const Result<TransferResult> after = decode<TransferResult>(now[2]);
  return before && after && before->ok == after->ok &&
         before->event_handle.size() == after->event_handle.size();
}

ReplayOutcome replay(RunContext& context, const ReplayFile& file, std::ostream& out,
                     const ReplayOptions& options) {
  context.begin_case("replay");
  return Replay(context, out, options).run(file);
}

}  // namespace kvc::conformance
