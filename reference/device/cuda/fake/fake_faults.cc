// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/fake/fake_faults.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>

#include "device/cuda/fake/fake_gpu.h"
#include "device/cuda/fake/fake_memory.h"
#include "device/cuda/fake/fake_stream.h"

namespace kvc::fake_gpu {
namespace {

struct Fault {
  int calls_left = 0;
  cudaError_t error = cudaSuccess;
};

std::atomic<cudaError_t> g_sticky{cudaSuccess};

struct Faults {
  std::mutex mutex;
  std::multimap<std::string, Fault> by_call;
};

Faults& faults() {
  static auto* const all = new Faults();
  return *all;
}

void read_environment() {
  static const bool done = [] {
    if (const char* const text = std::getenv("KVC_FAKE_GPU_FAULTS")) add_faults(text);
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

void add_faults(const std::string& text) {
  std::istringstream entries(text);
  std::string entry;
  while (std::getline(entries, entry, ',')) {
    const std::size_t at = entry.find('@'), equals = entry.find('=');
    if (at == entry.npos || equals == entry.npos || equals < at)
      throw std::invalid_argument("no fault: " + entry);
    const Fault fault{std::stoi(entry.substr(at + 1)),
                      static_cast<cudaError_t>(std::stoi(entry.substr(equals + 1)))};
    const std::lock_guard lock(faults().mutex);
    faults().by_call.emplace(entry.substr(0, at), fault);
  }
}

void forget_faults() {
  FakeStream::drain_all();  // what waits for what a sticky error dropped goes with it
  forget_pins();
  const std::lock_guard lock(faults().mutex);
  faults().by_call.clear();
  g_sticky = cudaSuccess;
}

cudaError_t fault_of(const char* call) {
  read_environment();
  const std::lock_guard lock(faults().mutex);
  cudaError_t error = cudaSuccess;
  const auto [first, last] = faults().by_call.equal_range(call);
  for (auto at = first; at != last;) {
    if (--at->second.calls_left > 0) {
      ++at;
      continue;
    }
    error = at->second.error;
    at = faults().by_call.erase(at);
  }
  return error;
}

cudaError_t sticky_error() { return g_sticky.load(); }
void set_sticky_error(cudaError_t error) { g_sticky = error; }
bool is_sticky_here(cudaError_t error) {
  return error == cudaErrorIllegalAddress || error == cudaErrorLaunchFailure;
}

}  // namespace kvc::fake_gpu
