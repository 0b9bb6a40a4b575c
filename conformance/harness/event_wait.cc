// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/event_wait.h"

#include <chrono>
#include <thread>

#include "conformance/harness/run_context.h"

namespace kvc::conformance {
namespace {

using Clock = std::chrono::steady_clock;

// Long enough for a server that does not wait to show it; spent only where it does wait.
constexpr std::chrono::milliseconds kGrace{100};
// How often a shared counter is looked at again.
constexpr std::chrono::microseconds kLook{200};

std::shared_ptr<Event> opened(Case& test, const Bytes& handle) {
  const Result<std::shared_ptr<Event>> event = test.device().open_event(handle);
  if (!event)
    test.wrong("the returned event handle opens", to_hex(handle) + ": " + event.error().text());
  return event.value();
}

bool completes_until(const Event& event, Clock::time_point until) {
  while (!event.complete()) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

}  // namespace

void wait_event(Case& test, const Bytes& handle) {
  const auto until = Clock::now() + test.context().settings().timeout;
  if (!completes_until(*opened(test, handle), until))
    throw Finding{Verdict::kSilent, "the returned event completes in time",
                  "it is still not complete", test.context().step()};
}

bool event_complete(Case& test, const Bytes& handle) { return opened(test, handle)->complete(); }

bool event_completes_within_grace(Case& test, const Bytes& handle) {
  return completes_until(*opened(test, handle), Clock::now() + kGrace);
}

}  // namespace kvc::conformance
