// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Probe: is the server alive? NOOP from a client that it has never seen, as an operator would ask.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "conformance/harness/client.h"

namespace kvc::conformance {

// A NOOP under way; for whoever waits for something else at the same time. Only looks, never waits.
class Probe {
 public:
  explicit Probe(RunContext& context);

  bool answered();
  std::chrono::milliseconds age() const;

 private:
  Client client_;
  std::chrono::steady_clock::time_point start_;
  bool answered_ = false;
};

// Waits for a new probe's answer. Answers in words how the server is dead, or nothing: it is alive.
std::optional<std::string> death_of_server(RunContext& context);

}  // namespace kvc::conformance
