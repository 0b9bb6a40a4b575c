// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/host/shm_names.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include "device/host/system_error.h"

namespace kvc {
namespace {

// What lives now, for exit(): a process that exits from within must not leave objects behind. Never
// freed, as destructors may run after atexit handlers.
struct LiveNames {
  std::mutex mutex;
  std::vector<ShmNames*> all;
};

LiveNames& live_names() {
  static LiveNames* const live = [] {
    std::atexit([] {
      const std::lock_guard lock(live_names().mutex);
      for (ShmNames* names : live_names().all) names->unlink_all();
    });
    return new LiveNames;
  }();
  return *live;
}

// A process of the same id in another pid namespace may share /dev/shm; then the numbers differ.
constexpr int kNameTriesMax = 1000;

// A handle holds 56 bytes of name: '/', the prefix, '-', at most 10 digits, '-', at most 20 digits.
constexpr std::size_t kPrefixCharactersMax = 56 - 33;

}  // namespace

ShmNames::ShmNames(std::string prefix, std::size_t kept_max)
    : prefix_(std::move(prefix)), kept_max_(kept_max), maker_(::getpid()), next_number_(1) {
  if (prefix_.empty() || prefix_.size() > kPrefixCharactersMax ||
      prefix_.find('/') != prefix_.npos || prefix_.find('\0') != prefix_.npos)
    throw DeviceError("'" + prefix_ + "' is no prefix for names of shared memory");
  mark_.emplace(prefix_);
  const std::lock_guard lock(live_names().mutex);
  live_names().all.push_back(this);
}

ShmNames::~ShmNames() {
  {
    const std::lock_guard lock(live_names().mutex);
    std::erase(live_names().all, this);
  }
  unlink_all();
}

int ShmNames::create(std::string& name) {
  const std::lock_guard lock(mutex_);
  if (closed_ || ::getpid() != maker_)
    throw DeviceError("/" + prefix_ + ": the device is gone, or was made before a fork");
  for (int tries = 0; tries < kNameTriesMax; ++tries) {
    std::string next =
        "/" + prefix_ + "-" + std::to_string(maker_) + "-" + std::to_string(next_number_++);
    // In the set before it is in the world: were this to throw afterwards, nobody would know it.
    live_.insert(next);
    const int descriptor = ::shm_open(next.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (descriptor >= 0) {
      name = std::move(next);
      return descriptor;
    }
    const int error = errno;
    live_.erase(next);
    if (error != EEXIST) throw_system_error("shm_open", next, error);
  }
  throw_system_error("shm_open", "/" + prefix_, EEXIST);
}

void ShmNames::unlink(const std::string& name) {
  const std::lock_guard lock(mutex_);
  unlink_locked(name);
}

void ShmNames::retire(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  retired_.push_back(name);
  if (retired_.size() <= kept_max_) return;
  unlink_locked(retired_.front());
  retired_.pop_front();
}

void ShmNames::unlink_all() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  if (::getpid() == maker_)
    for (const std::string& name : live_) ::shm_unlink(name.c_str());
  live_.clear();
  retired_.clear();
  mark_.reset();
}

void ShmNames::unlink_locked(const std::string& name) {
  if (live_.erase(name) != 0 && ::getpid() == maker_) ::shm_unlink(name.c_str());
}

}  // namespace kvc
