// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// RunContext: what the clients and cases of one run share: where the server is, which release it is
// asked in, how long to wait, the sockets' context, the device, and the trace of the running case.
// Owned by the run; outlives every Case and Client. One case runs at a time; clients of that case
// may live on several threads, and what they call here (const functions, trace, next_client_number)
// is safe for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "conformance/harness/trace.h"
#include "kvc/device/device.h"
#include "kvc/protocol/registry.h"

namespace kvc::conformance {

struct RunSettings {
  std::uint64_t seed = 0;
  std::chrono::milliseconds timeout{5000};        // for a reply that is due
  std::chrono::milliseconds probe_timeout{2000};  // for NOOP from a new client
  std::chrono::milliseconds grace{2};             // after a fence's answers
  std::optional<std::uint64_t> cache_bytes;       // of the server's object store, where known
  bool security = false;
  // The token ids between which the server's paragraphs are; empty: the whole query is one.
  std::vector<std::uint32_t> blend_start;
  std::vector<std::uint32_t> blend_end;
};

class Testee;

// The run is to end now: a signal came, or the budget is spent. Thrown by whatever waits.
struct Interrupted {};

class RunContext {
 public:
  RunContext(const Registry& registry, RunSettings settings);
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  const Registry& registry() const { return registry_; }
  const RunSettings& settings() const { return settings_; }
  zmq::context_t& sockets() { return sockets_; }

  // Changes when the server is restarted; what was asked of the old one is then forgotten.
  const std::string& endpoint() const { return endpoint_; }
  void set_endpoint(std::string endpoint);

  // The client side of the device under test. Throws Finding kHarness where there is none.
  Device& device();
  Device* device_or_null() { return device_.get(); }
  void set_device(std::unique_ptr<Device> device) { device_ = std::move(device); }

  // Tokens of a chunk, asked once of each server.
  std::uint64_t chunk_size();

  // The size of the server's object store, where the run knows it (Capability::kSmallCache).
  std::optional<std::uint64_t> cache_bytes() const { return settings_.cache_bytes; }

  // The program behind a pipe, in a run of `kvconform testee`; else null.
  Testee* testee() const { return testee_; }
  void set_testee(Testee* testee) { testee_ = testee; }

  // How many single things the cases looked at, where they count them.
  std::uint64_t num_checks() const { return num_checks_; }
  void add_checks(std::uint64_t count) { num_checks_ += count; }

  // Why the server's process is no more ("exited with status 1"), where we started it.
  void set_exit_check(std::function<std::optional<std::string>()> check);
  std::optional<std::string> server_exit() const {
    return exit_check_ ? exit_check_() : std::nullopt;
  }

  // Whether the server is known to leave PING unanswered, so that a fence must do without it.
  bool ping_answers() const { return ping_answers_; }
  void set_ping_answers(bool answers) { ping_answers_ = answers; }

  // The running case.
  void begin_case(std::string_view id);
  Trace& trace() { return trace_; }
  std::mt19937_64& random() { return random_; }
  int next_client_number() { return ++num_clients_; }
  void set_step(std::string note) { step_ = std::move(note); }
  const std::string& step() const { return step_; }
  std::string unique(std::string_view stem);

  // From a signal handler or another thread: everything that waits throws Interrupted soon.
  void interrupt() { interrupted_ = true; }
  bool interrupted() const;
  void set_deadline(std::chrono::steady_clock::time_point deadline) { deadline_ = deadline; }

 private:
  const Registry& registry_;
  RunSettings settings_;
  zmq::context_t sockets_{1};
  std::string endpoint_;
  std::unique_ptr<Device> device_;
  std::optional<std::uint64_t> chunk_size_;
  std::function<std::optional<std::string>()> exit_check_;
  bool ping_answers_ = true;
  Testee* testee_ = nullptr;
  std::uint64_t num_checks_ = 0;

  Trace trace_;
  std::mt19937_64 random_;
  std::atomic<int> num_clients_{0};
  std::string step_;
  std::string run_name_;  // in every unique() string
  std::atomic<std::uint64_t> num_unique_{0};

  std::atomic<bool> interrupted_{false};
  std::optional<std::chrono::steady_clock::time_point> deadline_;
};

}  // namespace kvc::conformance
