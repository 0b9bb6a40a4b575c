// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ProcessMark: says that the maker of "/<prefix>-<pid>-…" still lives: a locked shm object named
// "/<prefix>-<pid>-alive". The lock goes with the process, however it ends. A process id alone
// would not do: containers may share /dev/shm and not their ids.
#pragma once

#include <sys/types.h>

#include <string>

namespace kvc {

class ProcessMark {
 public:
  explicit ProcessMark(const std::string& prefix);  // throws DeviceError
  ~ProcessMark();  // removes the mark, unless another device has it
  ProcessMark(const ProcessMark&) = delete;
  ProcessMark& operator=(const ProcessMark&) = delete;

 private:
  const std::string name_;
  const pid_t maker_;
  int descriptor_ = -1;
};

}  // namespace kvc
