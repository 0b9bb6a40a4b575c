// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ChildProcess: a program of ours to start, watch and end, with all that it starts itself: it leads
// a process group, and the group ends with it. Its stdout and stderr go to a file. The
// environment's failures are std::system_error. exit_reason() may be asked from any thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kvc::conformance {

class ChildProcess {
 public:
  // Appends to `log_path`.
  ChildProcess(const std::vector<std::string>& command, const std::string& log_path);
  ~ChildProcess();  // stop()
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // "exited with status 1", "was killed by signal 11 (Segmentation fault)"; nothing: it runs.
  std::optional<std::string> exit_reason();

  // SIGTERM, and after `patience` SIGKILL to the group.
  void stop(std::chrono::milliseconds patience = std::chrono::milliseconds(3000));

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  std::mutex mutex_;
  std::optional<std::string> exit_reason_;
};

// A TCP port of 127.0.0.1 that nobody uses at this moment.
int free_port();

}  // namespace kvc::conformance
