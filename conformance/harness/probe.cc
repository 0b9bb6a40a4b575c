// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/probe.h"

#include <fmt/format.h>

#include "conformance/harness/run_context.h"

namespace kvc::conformance {

Probe::Probe(RunContext& context) : client_(context), start_(std::chrono::steady_clock::now()) {
  client_.send(RequestType::kNoop, {});
}

bool Probe::answered() {
  // Any reply will do: whether it is the right one is for the cases to say.
  if (!answered_) answered_ = client_.receive(std::chrono::milliseconds(0)).has_value();
  return answered_;
}

std::chrono::milliseconds Probe::age() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               start_);
}

std::optional<std::string> death_of_server(RunContext& context) {
  if (const auto exit = context.server_exit()) return "the server's process " + *exit;
  const std::chrono::milliseconds wait = context.settings().probe_timeout;
  Client client(context);
  client.send(RequestType::kNoop, {});
  if (client.receive(wait)) return std::nullopt;
  if (const auto exit = context.server_exit()) return "the server's process " + *exit;
  return fmt::format("NOOP from a new client is not answered within {} ms", wait.count());
}

}  // namespace kvc::conformance
