// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaw: one deliberate fault of a server, to prove that the referee notices it. A flaw has a name,
// says in one sentence what is wrong and which requirement of the ledger that breaks, and changes a
// kvserver at the seams between its parts: the reference itself knows nothing of flaws.
//
//   messages ──▶ message ──▶ Dispatcher ──▶ handlers ──▶ Engine ──▶ units ──▶ Device
//   replies  ◀── reply   ◀──
//
// Plain values. What a Changes holds is called from the server's threads, as each field says.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "kvc/device/device.h"
#include "mutants/flawed_stream.h"
#include "server/frame.h"
#include "server/handler_table.h"
#include "server/thread_pool.h"

namespace kvc::mutants {

using server::HandlerTable;
using server::Message;
using server::Outcome;
using server::Reply;

// What the handlers of a flawed server can reach.
struct Parts {
  HandlerTable& handlers;
  Engine& engine;
  Device& device;
  std::size_t chunk_size = 0;
};

// Each is optional.
struct Changes {
  std::function<void(EngineOptions&)> options = {};
  // Plays a unit of a stream's work in place of play(); on the thread that queues the unit.
  PlayUnit units = {};
  // Before anything is served.
  std::function<void(const Parts&)> handlers = {};
  // Passes on what comes, or not; on the loop's thread.
  std::function<void(Message, const std::function<void(Message)>& next)> message = {};
  // Passes on what goes, or not; on the loop's thread for SYNC, on a pool's for BLOCKING. Its
  // `next` may be kept and called later, on any thread.
  std::function<void(Reply, bool sync, const std::function<void(Reply)>& next)> reply = {};
  // The flaw's own thread, if it has one: it ends before the server does.
  std::shared_ptr<server::ThreadPool> thread = {};
};

struct Flaw {
  std::string name;         // "free-ignores-range"
  std::string sentence;     // what such a server does
  std::string requirement;  // the rule that it breaks, by its id in the ledger
  std::function<Changes()> make;
  // A property that finds it, where no case that sends one request after the other can.
  std::string property = {};
};
using FlawList = std::vector<Flaw>;

const FlawList& all_flaws();
const Flaw* find_flaw(std::string_view name);  // null where there is none
std::string nearest_flaw_name(std::string_view name);

// One file for each kind.
void add_envelope_flaws(FlawList& list);
void add_registry_flaws(FlawList& list);
void add_typing_flaws(FlawList& list);
void add_typing_map_flaws(FlawList& list);
void add_registration_flaws(FlawList& list);
void add_key_flaws(FlawList& list);
void add_store_flaws(FlawList& list);
void add_retrieve_flaws(FlawList& list);
void add_event_flaws(FlawList& list);
void add_lookup_flaws(FlawList& list);
void add_lock_flaws(FlawList& list);
void add_session_flaws(FlawList& list);
void add_cache_flaws(FlawList& list);
void add_blend_flaws(FlawList& list);
void add_blend_lookup_flaws(FlawList& list);
void add_handler_flaws(FlawList& list);
void add_robustness_flaws(FlawList& list);
void add_race_flaws(FlawList& list);

}  // namespace kvc::mutants
