// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/run_context.h"

#include <fmt/format.h>

#include "conformance/harness/client.h"
#include "conformance/harness/verdict.h"

namespace kvc::conformance {
namespace {

// FNV-1a: the same seed for the same id on every platform, which std::hash does not promise.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3U;
  }
  return hash;
}

}  // namespace

RunContext::RunContext(const Registry& registry, RunSettings settings)
    : registry_(registry),
      settings_(settings),
      random_(settings.seed),
      run_name_(fmt::format("{:08x}", std::random_device{}())) {
  // A case may open hundreds of clients, and closed ones linger in the reaper for a moment.
  sockets_.set(zmq::ctxopt::max_sockets, 8192);
}

void RunContext::set_endpoint(std::string endpoint) {
  endpoint_ = std::move(endpoint);
  chunk_size_.reset();
}

Device& RunContext::device() {
  if (!device_)
    throw Finding{Verdict::kHarness, "a device to play an engine on", "the run has none (--device)",
                  ""};
  return *device_;
}

std::uint64_t RunContext::chunk_size() {
  if (!chunk_size_) {
    const Int answer = Client(*this).call<Int>(RequestType::kGetChunkSize);
    const std::optional<std::uint64_t> size = answer.as_u64();
    if (!size || *size == 0)
      throw Finding{Verdict::kWrong, "GET_CHUNK_SIZE answers a positive number", answer.to_string(),
                    ""};
    chunk_size_ = size;
  }
  return *chunk_size_;
}

void RunContext::set_exit_check(std::function<std::optional<std::string>()> check) {
  exit_check_ = std::move(check);
}

void RunContext::begin_case(std::string_view id) {
  trace_.begin();
  random_.seed(settings_.seed ^ hash_of(id));
  num_clients_ = 0;
  step_.clear();
}

std::string RunContext::unique(std::string_view stem) {
  return fmt::format("{}-{}-{}", stem, run_name_, ++num_unique_);
}

bool RunContext::interrupted() const {
  return interrupted_ || (deadline_ && std::chrono::steady_clock::now() >= *deadline_);
}

}  // namespace kvc::conformance
