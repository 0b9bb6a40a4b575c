// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of events: what waits for what, and what is seen when.
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "mutants/flaw.h"
#include "mutants/shadow.h"

namespace kvc::mutants {
namespace {

using std::chrono::milliseconds;

Changes unit_flaw(PlayUnit play_unit) { return {.units = std::move(play_unit)}; }

void store_before_the_event(Unit unit, Stream& stream) {
  if (unit.stores()) unit.wait_for = nullptr;
  play(std::move(unit), stream);
}

void retrieve_before_the_event(Unit unit, Stream& stream) {
  if (unit.retrieves()) unit.wait_for = nullptr;
  play(std::move(unit), stream);
}

// The event is recorded in front of the work.
void done_at_once(Unit unit, Stream& stream, bool stores) {
  if (stores ? !unit.stores() : !unit.retrieves()) return play(std::move(unit), stream);
  stream.begin_unit();
  stream.record(unit.done);
  if (unit.wait_for != nullptr) stream.wait(unit.wait_for);
  // Late enough to be seen.
  stream.host_function([](bool) { std::this_thread::sleep_for(milliseconds(20)); });
  stream.copy(unit.space, unit.copies);
  stream.host_function(unit.finish);
}

// Visible with the reply.
void visible_at_once(Unit unit, Stream& stream) {
  if (unit.stores()) {
    unit.finish(true);
    unit.finish = [](bool) {};
  }
  play(std::move(unit), stream);
}

// Behind the event, where the next of the stream's work waits for it.
void visible_behind_the_event(Unit unit, Stream& stream) {
  if (!unit.stores()) return play(std::move(unit), stream);
  stream.begin_unit();
  if (unit.wait_for != nullptr) stream.wait(unit.wait_for);
  stream.copy(unit.space, unit.copies);
  stream.record(unit.done);
  stream.host_function([finish = unit.finish](bool completed) {
    std::this_thread::sleep_for(milliseconds(100));
    finish(completed);
  });
}

// When a thread that has other things to do comes to it.
Changes visible_late() {
  Changes changes;
  changes.thread = server::create_normal_pool(1);
  changes.units = [pool = changes.thread.get()](Unit unit, Stream& stream) {
    if (unit.stores())
      unit.finish = [pool, finish = std::move(unit.finish)](bool completed) {
        pool->submit(0, [finish, completed] {
          std::this_thread::sleep_for(milliseconds(50));
          finish(completed);
        });
      };
    play(std::move(unit), stream);
  };
  return changes;
}

Changes reply_after_the_copy(std::initializer_list<RequestType> types) {
  return with_calls(types, [](Call& call, const Parts& parts) {
    Outcome outcome = call.next();
    const auto result = result_of<TransferResult>(outcome);
    if (result && result->ok)
      if (const auto event = parts.device.open_event(result->event_handle))
        (*event)->synchronize_for(std::chrono::seconds(10));
    return outcome;
  });
}

Changes bad_handles_ignored() {
  return with_calls({RequestType::kStore, RequestType::kRetrieve},
                    [](Call& call, const Parts& parts) {
                      // One that is complete, in place of one that does not open.
                      const auto spare = parts.device.create_event();
                      call.change<Bytes>(3, [&](Bytes& handle) {
                        if (!handle.empty() && !parts.device.open_event(handle))
                          handle = spare->ipc_handle();
                      });
                      return call.next();
                    });
}

Changes empty_handle_refused() {
  return with_calls({RequestType::kRetrieve}, [](Call& call, const Parts&) {
    const auto handle = call.get<Bytes>(3);
    if (handle && handle->empty()) return answer(TransferResult{});
    return call.next();
  });
}

Changes one_event_for_all() {
  struct State {
    std::mutex mutex;
    std::shared_ptr<Event> first;
  };
  return with_calls({RequestType::kStore},
                    [state = std::make_shared<State>()](Call& call, const Parts& parts) {
                      Outcome outcome = call.next();
                      auto result = result_of<TransferResult>(outcome);
                      if (!result || !result->ok) return outcome;
                      const std::lock_guard lock(state->mutex);
                      if (state->first == nullptr) {
                        const auto event = parts.device.open_event(result->event_handle);
                        if (event) state->first = *event;
                      }
                      if (state->first != nullptr)
                        result->event_handle = state->first->ipc_handle();
                      return answer(*result);
                    });
}

Changes handle_of_a_closed_event() {
  return with_calls({RequestType::kStore}, [](Call& call, const Parts&) {
    Outcome outcome = call.next();
    auto result = result_of<TransferResult>(outcome);
    if (!result || !result->ok || result->event_handle.size() != 64) return outcome;
    result->event_handle[20] ^= 1;
    return answer(*result);
  });
}

}  // namespace

void add_event_flaws(FlawList& list) {
  list.push_back({"store-before-the-event", "STORE copies without waiting for the client's event.",
                  "events.store-waits", [] { return unit_flaw(store_before_the_event); }});
  list.push_back({"retrieve-before-the-event",
                  "RETRIEVE writes without waiting for the client's event.",
                  "events.retrieve-waits", [] { return unit_flaw(retrieve_before_the_event); }});
  list.push_back({"store-done-early", "The event of a STORE completes before its copy.",
                  "events.source-reuse", [] {
                    return unit_flaw([](Unit unit, Stream& stream) {
                      done_at_once(std::move(unit), stream, true);
                    });
                  }});
  list.push_back({"retrieve-done-early", "The event of a RETRIEVE completes before its copy.",
                  "events.retrieve-done", [] {
                    return unit_flaw([](Unit unit, Stream& stream) {
                      done_at_once(std::move(unit), stream, false);
                    });
                  }});
  list.push_back({"visible-with-the-reply", "What is stored can be found as soon as STORE answers.",
                  "events.not-visible-before", [] { return unit_flaw(visible_at_once); }});
  list.push_back({"visible-behind-the-event",
                  "What is stored can be found a while after the returned event.",
                  "events.visible-at-once", [] { return unit_flaw(visible_behind_the_event); }});
  list.push_back({"visible-late", "What is stored can be found long after the returned event.",
                  "events.visible-after", visible_late});
  list.push_back({"store-replies-after-the-copy", "STORE answers when its copy is done.",
                  "events.reply-first",
                  [] { return reply_after_the_copy({RequestType::kStore}); }});
  list.push_back({"bad-event-ignored", "Goes on without an event that does not open.",
                  "events.bad-handle", bad_handles_ignored});
  list.push_back({"empty-event-refused", "Refuses a RETRIEVE without an event.",
                  "events.retrieve-empty", empty_handle_refused});
  list.push_back({"one-event-for-all", "All STOREs answer the event of the first.",
                  "events.visible-after", one_event_for_all});
  list.push_back({"event-does-not-open", "STORE answers a handle that leads nowhere.",
                  "events.visible-after", handle_of_a_closed_event});
}

}  // namespace kvc::mutants
