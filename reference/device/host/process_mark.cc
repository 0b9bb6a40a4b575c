// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/host/process_mark.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "device/host/system_error.h"
#include "kvc/device/host_device.h"

namespace kvc {
namespace {

constexpr std::string_view kMark = "alive";

std::string name_of(const std::string& prefix, pid_t maker, std::string_view rest) {
  return "/" + prefix + "-" + std::to_string(maker) + "-" + std::string(rest);
}

// The maker of "<prefix>-<pid>-<number>" or its mark; nothing for names that are not ours.
std::optional<pid_t> maker_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  if (!name.starts_with('-')) return std::nullopt;
  name.remove_prefix(1);
  pid_t maker = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), maker);
  if (error != std::errc() || maker <= 0) return std::nullopt;
  name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  if (!name.starts_with('-')) return std::nullopt;
  name.remove_prefix(1);
  const bool number = !name.empty() && std::all_of(name.begin(), name.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  return number || name == kMark ? std::optional(maker) : std::nullopt;
}

std::map<pid_t, std::vector<std::string>> objects_by_maker(const std::string& prefix) {
  std::map<pid_t, std::vector<std::string>> objects;
  DIR* const folder = ::opendir("/dev/shm");
  if (folder == nullptr) return objects;
  while (const dirent* entry = ::readdir(folder))
    if (const auto maker = maker_of(entry->d_name, prefix))
      objects[*maker].push_back("/" + std::string(entry->d_name));
  ::closedir(folder);
  return objects;
}

// Unlinks the objects of a maker that is dead, while nobody can become that maker.
std::size_t sweep(const std::string& prefix, pid_t maker, const std::vector<std::string>& names) {
  const std::string mark = name_of(prefix, maker, kMark);
  const int descriptor = ::shm_open(mark.c_str(), O_RDWR, 0);
  const bool dead = descriptor >= 0 ? ::flock(descriptor, LOCK_EX | LOCK_NB) == 0
                                    : ::kill(maker, 0) != 0 && errno == ESRCH;
  std::size_t num_swept = 0;
  if (dead) {
    for (const std::string& name : names)
      if (name != mark && ::shm_unlink(name.c_str()) == 0) ++num_swept;
    ::shm_unlink(mark.c_str());
  }
  if (descriptor >= 0) ::close(descriptor);
  return num_swept;
}

}  // namespace

ProcessMark::ProcessMark(const std::string& prefix)
    : name_(name_of(prefix, ::getpid(), kMark)), maker_(::getpid()) {
  // Again when somebody swept it between the opening and the locking.
  for (;;) {
    descriptor_ = ::shm_open(name_.c_str(), O_RDWR | O_CREAT, 0600);
    if (descriptor_ < 0) throw_system_error("shm_open", name_, errno);
    struct stat status = {};
    if (::flock(descriptor_, LOCK_SH) == 0 && ::fstat(descriptor_, &status) == 0 &&
        status.st_nlink > 0)
      return;
    ::close(descriptor_);
  }
}

ProcessMark::~ProcessMark() {
  if (::getpid() == maker_ && ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0)
    ::shm_unlink(name_.c_str());
  ::close(descriptor_);
}

std::size_t sweep_dead_processes(const std::string& name_prefix) {
  std::size_t num_swept = 0;
  for (const auto& [maker, names] : objects_by_maker(name_prefix))
    if (maker != ::getpid()) num_swept += sweep(name_prefix, maker, names);
  return num_swept;
}

}  // namespace kvc
