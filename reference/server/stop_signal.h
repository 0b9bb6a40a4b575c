// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// StopSignal: SIGTERM and SIGINT as a file descriptor that becomes readable. Construct it before
// any thread starts: it blocks the two signals for the process. Throws std::system_error.
#pragma once

namespace kvc::server {

class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace kvc::server
