// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ShmNames: the names of the shm objects that one device has made. Whatever is still named when the
// device goes, or the process exits, is unlinked; events' names outlive their last user for a
// while, as an importer opens them later. Any thread. In a forked child it unlinks nothing: the
// names are the parent's.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

#include "device/host/process_mark.h"

namespace kvc {

class ShmNames {
 public:
  // `kept_max` of the retired names stay. Throws DeviceError for a prefix that makes no names.
  ShmNames(std::string prefix, std::size_t kept_max);
  ~ShmNames();
  ShmNames(const ShmNames&) = delete;
  ShmNames& operator=(const ShmNames&) = delete;

  // Creates an object under a new name, "/<prefix>-<pid>-<number>", for its maker alone; answers
  // its descriptor. Throws DeviceError.
  int create(std::string& name);

  void unlink(const std::string& name);  // now
  void retire(const std::string& name);  // when kept_max others have been retired after it
  void unlink_all();                     // of all; later create()s throw

 private:
  void unlink_locked(const std::string& name);

  const std::string prefix_;
  const std::size_t kept_max_;
  const pid_t maker_;
  std::mutex mutex_;
  std::uint64_t next_number_;
  std::unordered_set<std::string> live_;
  std::deque<std::string> retired_;  // oldest first
  bool closed_ = false;
  std::optional<ProcessMark> mark_;  // until closed
};

}  // namespace kvc
