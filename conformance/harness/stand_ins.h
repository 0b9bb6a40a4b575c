// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// StandIns: recorded messages name buffers and events of the host device that went with the process
// that made them. While a StandIns lives there are objects by these names again, so that the
// messages can be sent byte for byte: memory of the recorded size that holds zeros, and events that
// were never recorded, which are complete. What is there already is left alone. CUDA handles cannot
// be stood in for. Not thread-safe. The environment's failures are std::system_error.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "conformance/harness/trace.h"
#include "kvc/protocol/registry.h"

namespace kvc::conformance {

// The shm objects that the sent messages name, and the bytes that each must have at least.
std::map<std::string, std::size_t> shared_memory_of(const Registry& registry,
                                                    const std::vector<TraceEntry>& entries);

class StandIns {
 public:
  explicit StandIns(const std::map<std::string, std::size_t>& objects);
  ~StandIns();  // unlinks what it made
  StandIns(const StandIns&) = delete;
  StandIns& operator=(const StandIns&) = delete;

  std::size_t num_made() const { return made_.size(); }

 private:
  std::vector<std::string> made_;
};

}  // namespace kvc::conformance
