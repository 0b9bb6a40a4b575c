// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/fake/fake_ledger.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

namespace kvc::fake_gpu {
namespace {

struct Use {
  std::atomic<pid_t> pid;  // 0: free
  std::atomic<std::uint64_t> id;
  std::atomic<std::uint64_t> size;
};
constexpr std::size_t kUsesMax = 16384;

bool lives(pid_t pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; }

bool parse_name(const std::string& name, pid_t& pid, std::uint64_t& number) {
  int length = 0;
  return std::sscanf(name.c_str(), "/kvfakegpu-%d-%lu%n", &pid, &number, &length) == 2 &&
         static_cast<std::size_t>(length) == name.size();
}

// Of processes that were killed.
void sweep() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) {
    const std::string name = "/" + entry.path().filename().string();
    pid_t pid = 0;
    std::uint64_t number = 0;
    if (parse_name(name, pid, number) && !lives(pid)) ::shm_unlink(name.c_str());
  }
}

std::array<Use, kUsesMax>& table() {
  static std::array<Use, kUsesMax>* const shared = [] {
    sweep();
    const char* const gpu = std::getenv("KVC_FAKE_GPU");
    const std::string name =
        "/kvfakegpu-table-" + std::to_string(::getuid()) + "-" + (gpu == nullptr ? "0" : gpu);
    const int file = ::shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
    void* memory = MAP_FAILED;
    if (file >= 0 && ::ftruncate(file, sizeof(std::array<Use, kUsesMax>)) == 0)
      memory = ::mmap(nullptr, sizeof(std::array<Use, kUsesMax>), PROT_READ | PROT_WRITE,
                      MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
      std::perror("the fake GPU's table");
      std::abort();
    }
    ::close(file);
    return static_cast<std::array<Use, kUsesMax>*>(memory);
  }();
  return *shared;
}

struct Names {
  std::mutex mutex;
  std::set<std::string> live;
  std::uint64_t last = 0;
};

Names& names() {
  static Names* const all = [] {
    std::atexit([] {
      const std::lock_guard lock(names().mutex);
      for (const std::string& name : names().live) ::shm_unlink(name.c_str());
    });
    return new Names();
  }();
  return *all;
}

}  // namespace

std::size_t add_use(std::uint64_t id, std::size_t size_bytes) {
  for (std::size_t i = 0; i < kUsesMax; ++i) {
    Use& use = table()[i];
    pid_t pid = use.pid.load();
    if (pid != 0 && lives(pid)) continue;
    if (!use.pid.compare_exchange_strong(pid, ::getpid())) continue;
    use.id = id;
    use.size = size_bytes;
    return i;
  }
  std::fputs("the fake GPU's table is full\n", stderr);
  std::abort();
}

void drop_use(std::size_t use) { table()[use].pid = 0; }

std::size_t used_bytes() {
  std::map<std::uint64_t, std::size_t> allocations;
  for (const Use& use : table()) {
    const pid_t pid = use.pid.load();
    if (pid != 0 && lives(pid)) allocations[use.id] = use.size;
  }
  std::size_t total = 0;
  for (const auto& [id, size] : allocations) total += size;
  return total;
}

std::string new_name(std::uint64_t& id) {
  table();  // sweeps before the first name
  const std::lock_guard lock(names().mutex);
  const std::uint64_t number = ++names().last;
  id = static_cast<std::uint64_t>(::getpid()) << 32U | number;
  std::string name = "/kvfakegpu-" + std::to_string(::getpid()) + "-" + std::to_string(number);
  names().live.insert(name);
  return name;
}

void forget_name(const std::string& name) {
  const std::lock_guard lock(names().mutex);
  if (names().live.erase(name) > 0) ::shm_unlink(name.c_str());
}

bool is_own_name(const std::string& name) {
  pid_t pid = 0;
  std::uint64_t number = 0;
  return parse_name(name, pid, number) && pid == ::getpid();
}

bool is_name_of_another(const std::string& name, std::uint64_t& id) {
  pid_t pid = 0;
  std::uint64_t number = 0;
  if (!parse_name(name, pid, number) || pid == ::getpid() || !lives(pid)) return false;
  id = static_cast<std::uint64_t>(pid) << 32U | number;
  return true;
}

}  // namespace kvc::fake_gpu
