// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/fuzz/replay_shrink.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>

#include "conformance/fuzz/message_class.h"
#include "conformance/harness/run_options.h"

namespace kvc::conformance {
namespace {

constexpr ShrinkUntil kAll[] = {ShrinkUntil::kDead, ShrinkUntil::kSilent, ShrinkUntil::kDiffers,
                                ShrinkUntil::kSame};

}  // namespace

std::string_view to_string(ShrinkUntil until) {
  switch (until) {
    case ShrinkUntil::kDead:
      return "dead";
    case ShrinkUntil::kSilent:
      return "silent";
    case ShrinkUntil::kDiffers:
      return "differs";
    case ShrinkUntil::kSame:
      return "same";
  }
  return "?";
}

ShrinkUntil until_of(const std::string& name, const ReplayHeader& header) {
  for (const ShrinkUntil until : kAll)
    if (name == to_string(until)) return until;
  if (!name.empty()) throw UsageError("--until is dead, silent, differs or same");
  if (header.verdict == "DEAD") return ShrinkUntil::kDead;
  if (header.verdict == "SILENT") return ShrinkUntil::kSilent;
  if (header.verdict == "WRONG") return ShrinkUntil::kSame;
  throw UsageError("the file has no verdict: say --until");
}

ReplayShrinker::ReplayShrinker(RunContext& context, ServerKeeper& keeper, ReplayFile file,
                               ShrinkUntil until)
    : context_(context), keeper_(keeper), file_(std::move(file)), until_(until) {
  std::map<int, std::size_t> last;  // of each client, the step that was sent last
  std::vector<bool> answered;
  for (const TraceEntry& entry : file_.entries) {
    if (entry.sent) {
      last[entry.client] = steps_.size();
      owner_.push_back(steps_.size());
      steps_.push_back({entry.client, entry.frames, steps_.size()});
      answered.push_back(false);
      continue;
    }
    // A reply belongs to the first request with its uid that has none; one with a uid of nobody, to
    // the request before it.
    std::optional<std::size_t> owner;
    for (std::size_t i = 0; i < steps_.size() && !owner; ++i)
      if (!answered[i] && steps_[i].client == entry.client && !entry.frames.empty() &&
          !steps_[i].frames.empty() && steps_[i].frames[0] == entry.frames[0])
        owner = i;
    if (!owner) owner = last.count(entry.client) > 0 ? last[entry.client] : 0;
    if (*owner < answered.size()) answered[*owner] = true;
    owner_.push_back(*owner);
  }
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (!answered[i] && classify(context_.registry(), steps_[i].frames).legal()) unanswered_ = i;
}

ReplayFile ReplayShrinker::file_of(const Steps& steps) const {
  ReplayFile out;
  out.header = file_.header;
  for (std::size_t i = 0; i < file_.entries.size(); ++i) {
    const auto kept = std::find_if(steps.begin(), steps.end(),
                                   [&](const Step& step) { return step.origin == owner_[i]; });
    if (kept == steps.end()) continue;
    TraceEntry entry = file_.entries[i];
    entry.client = kept->client;
    if (entry.sent) entry.frames = kept->frames;
    out.entries.push_back(std::move(entry));
  }
  return out;
}

bool ReplayShrinker::stays_silent(const Steps& steps, const ReplayOutcome& outcome) const {
  if (file_.header.verdict != "SILENT" || !unanswered_) return false;
  const auto asked = std::find_if(steps.begin(), steps.end(),
                                  [&](const Step& step) { return step.origin == *unanswered_; });
  if (asked == steps.end() || !classify(context_.registry(), asked->frames).legal()) return false;
  return std::none_of(outcome.extra.begin(), outcome.extra.end(), [&](const TraceEntry& reply) {
    return reply.client == asked->client && reply.frames[0] == asked->frames[0];
  });
}

bool ReplayShrinker::shows(const Steps& steps, bool fresh) {
  // A request that is cut until it is none is silent for another reason.
  if (until_ == ShrinkUntil::kSilent &&
      std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
        return classify(context_.registry(), step.frames).legal() !=
               classify(context_.registry(), steps_[step.origin].frames).legal();
      }))
    return false;
  if (!keeper_.make_ready(fresh)) return false;
  std::ostringstream unseen;
  const ReplayOutcome outcome = replay(context_, file_of(steps), unseen);
  if (!outcome.alive) keeper_.note_death();
  switch (until_) {
    case ShrinkUntil::kDead:
      return !outcome.alive;
    case ShrinkUntil::kSilent:
      return outcome.alive && (outcome.missing > 0 || stays_silent(steps, outcome));
    case ShrinkUntil::kDiffers:
      return outcome.alive && (outcome.other > 0 || outcome.more > 0);
    case ShrinkUntil::kSame:
      return outcome.alive && outcome.last_same;
  }
  return false;
}

std::optional<ShrunkReplay> ReplayShrinker::run(double budget_s) {
  using Clock = std::chrono::steady_clock;
  if (steps_.empty() || !shows(steps_, true)) return std::nullopt;
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(budget_s));
  ShrinkOptions options;
  options.keep_uids = true;  // recorded replies are known by them
  options.is_over = [&] {
    return Clock::now() >= end || (keeper_.is_dead() && !keeper_.can_start());
  };
  const auto still = [&](const Steps& steps) { return shows(steps, true); };
  Shrunk shrunk = shrink(steps_, still, options);
  // A slow server was not started anew for each try: what it had seen before may be part of it.
  if (keeper_.is_slow() && keeper_.start_anew() && !shows(shrunk.steps, false)) {
    shrunk = {steps_, shrunk.num_tries, true};
  }
  return ShrunkReplay{file_of(shrunk.steps), shrunk.steps.size(), shrunk.num_tries,
                      shrunk.given_up};
}

}  // namespace kvc::conformance
