// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Exporter: memory and an event of a process that a case may end: kvconform itself, started again
// as `kvconform export`. What cannot be started is a Finding kHarness. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "conformance/harness/case.h"

namespace kvc::conformance {

// What the process fills its memory with.
inline constexpr std::uint8_t kExportedByte = 0x5a;

struct ExportOptions {
  std::string device = "host";
  std::size_t size_bytes = 0;
  bool pending = false;  // the event is recorded and not complete, while the process lives
};

class Exporter {
 public:
  // On the case's device. Returns when the memory and the event are there.
  Exporter(Case& test, std::size_t size_bytes, bool pending = false);
  ~Exporter();  // kill()
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  const Bytes& memory_handle() const { return memory_handle_; }
  const Bytes& event_handle() const { return event_handle_; }

  void end();   // it takes down what it made, and exits
  void kill();  // SIGKILL; what the system leaves of it is swept

 private:
  void wait();

  Case& test_;
  pid_t pid_ = -1;
  int input_ = -1;
  Bytes memory_handle_;
  Bytes event_handle_;
};

// The process itself: prints one line, "exports MEMORY EVENT" in hex, and ends when its stdin does.
// Answers an exit code.
int run_exporter(const ExportOptions& options);

}  // namespace kvc::conformance
