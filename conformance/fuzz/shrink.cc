// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/fuzz/shrink.h"

#include <algorithm>
#include <utility>

namespace kvc::conformance {
namespace {

// What is longer is only cut: to try each byte's value takes too long.
constexpr std::size_t kValueBytesMax = 16;

class Shrinker {
 public:
  Shrinker(Steps steps, const StillShows& shows, const ShrinkOptions& options)
      : shows_(shows), options_(options), best_{std::move(steps), 0, false} {}

  Shrunk run() {
    try_suspects();
    fewer_messages();
    one_client();
    while (!best_.given_up) {
      const Steps before = best_.steps;
      for (std::size_t i = 0; i < best_.steps.size(); ++i) fewer_frames(i);
      for (std::size_t i = 0; i < best_.steps.size(); ++i)
        for (std::size_t f = options_.keep_uids ? 1 : 0; f < best_.steps[i].frames.size(); ++f)
          shorter_frame(i, f);
      if (best_.steps == before) break;
      fewer_messages();
    }
    return std::move(best_);
  }

 private:
  // Takes `candidate` for the best when it still shows it.
  bool attempt(Steps candidate) {
    if (best_.given_up || candidate == best_.steps) return false;
    if (best_.num_tries >= options_.tries_max || options_.is_over()) {
      best_.given_up = true;
      return false;
    }
    ++best_.num_tries;
    if (!shows_(candidate)) return false;
    best_.steps = std::move(candidate);
    return true;
  }

  void try_suspects() {
    if (best_.steps.size() < 2) return;
    for (const std::size_t index : options_.suspects)
      if (index < best_.steps.size() && attempt({best_.steps[index]})) return;
  }

  // Drops runs of `size` elements, of what `list` finds in the steps, as long as one can go.
  // Halves first, then quarters, at last single ones.
  template <class List>
  void drop_runs(List list, std::size_t first, std::size_t size_min_kept) {
    std::size_t run = std::max<std::size_t>((list(best_.steps).size() - first) / 2, 1);
    while (!best_.given_up) {
      bool dropped = false;
      for (std::size_t at = first; at < list(best_.steps).size();) {
        Steps candidate = best_.steps;
        auto& elements = list(candidate);
        const std::size_t end = std::min(at + run, elements.size());
        if (elements.size() - (end - at) < size_min_kept) {
          at = end;
          continue;
        }
        elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(at),
                       elements.begin() + static_cast<std::ptrdiff_t>(end));
        if (attempt(std::move(candidate)))
          dropped = true;
        else
          at = end;
      }
      if (run == 1 && !dropped) return;
      if (run > 1) run = (run + 1) / 2;
      if (list(best_.steps).size() <= first) return;
    }
  }

  void fewer_messages() {
    if (best_.steps.size() < 2) return;
    drop_runs([](Steps& steps) -> Steps& { return steps; }, 0, 1);
  }

  void one_client() {
    Steps candidate = best_.steps;
    for (Step& step : candidate) step.client = 1;
    attempt(std::move(candidate));
  }

  void fewer_frames(std::size_t index) {
    // All payloads at once: where the type frame alone does it, nothing else needs to be tried.
    if (best_.steps[index].frames.size() > 3) {
      Steps candidate = best_.steps;
      candidate[index].frames.resize(2);
      attempt(std::move(candidate));
    }
    if (best_.steps[index].frames.size() < 2) return;
    drop_runs([index](Steps& steps) -> Frames& { return steps[index].frames; },
              options_.keep_uids ? 1 : 0, 1);
  }

  bool attempt_frame(std::size_t index, std::size_t frame, Bytes bytes) {
    Steps candidate = best_.steps;
    candidate[index].frames[frame] = std::move(bytes);
    return attempt(std::move(candidate));
  }

  void shorter_frame(std::size_t index, std::size_t frame) {
    const auto bytes = [&]() -> const Bytes& { return best_.steps[index].frames[frame]; };
    if (bytes().empty()) return;
    if (attempt_frame(index, frame, {}) || attempt_frame(index, frame, {0})) return;
    if (bytes().size() > 1)
      drop_runs([=](Steps& steps) -> Bytes& { return steps[index].frames[frame]; }, 0, 1);
    if (bytes().size() > kValueBytesMax) return;
    for (std::size_t i = 0; i < bytes().size(); ++i) {
      if (bytes()[i] == 0) continue;
      Bytes simpler = bytes();
      simpler[i] = 0;
      attempt_frame(index, frame, std::move(simpler));
    }
  }

  const StillShows& shows_;
  const ShrinkOptions& options_;
  Shrunk best_;
};

}  // namespace

Shrunk shrink(Steps steps, const StillShows& shows, const ShrinkOptions& options) {
  return Shrinker(std::move(steps), shows, options).run();
}

}  // namespace kvc::conformance
