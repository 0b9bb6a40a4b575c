// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/fake/fake_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "device/cuda/fake/fake_ledger.h"

namespace kvc::fake_gpu {
namespace {

constexpr char kTag[] = "KVFAKEM1";
constexpr std::size_t kTagBytes = sizeof kTag - 1;
constexpr std::size_t kPage = 4096;

struct Allocation {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  MemoryKind kind = MemoryKind::kShared;
  std::string name;  // empty: the pool's
  bool imported = false;
  int num_opened = 1;
  std::size_t use = 0;
};

struct Memory {
  std::mutex mutex;
  std::map<std::uintptr_t, Allocation> allocations;
  std::map<std::uintptr_t, std::size_t> pinned;
};

Memory& memory() {
  static auto* const all = new Memory();
  return *all;
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

std::size_t whole_pages(std::size_t size) { return (size + kPage - 1) / kPage * kPage; }

// REQUIRES: the lock. The allocation around an address, or the end.
auto find(const void* address) {
  auto& all = memory().allocations;
  auto at = all.upper_bound(number(address));
  if (at == all.begin()) return all.end();
  --at;
  return number(address) - at->first < at->second.size ? at : all.end();
}

// Maps `file` (-1: memory of nobody else's) and its place on the device.
cudaError_t map(int file, Allocation allocation, void** address) {
  const std::size_t size = whole_pages(allocation.size);
  void* const bytes =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
             file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, file, 0);
  void* const place =
      ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bytes == MAP_FAILED || place == MAP_FAILED) return cudaErrorMemoryAllocation;
  allocation.bytes = static_cast<std::uint8_t*>(bytes);
  *address = place;
  memory().allocations[number(place)] = std::move(allocation);
  return cudaSuccess;
}

void unmap(std::map<std::uintptr_t, Allocation>::iterator at) {
  ::munmap(at->second.bytes, whole_pages(at->second.size));
  ::munmap(reinterpret_cast<void*>(at->first), whole_pages(at->second.size));
  if (!at->second.imported && !at->second.name.empty()) forget_name(at->second.name);
  drop_use(at->second.use);
  memory().allocations.erase(at);
}

}  // namespace

cudaError_t allocate(void** address, std::size_t size_bytes, MemoryKind kind) {
  if (size_bytes == 0) return cudaErrorInvalidValue;
  if (used_bytes() + size_bytes > kTotalBytes) return cudaErrorMemoryAllocation;
  Allocation allocation;
  allocation.size = size_bytes;
  allocation.kind = kind;
  std::uint64_t id = 0;
  std::string name = new_name(id);
  int file = -1;
  if (kind == MemoryKind::kShared) {
    file = ::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(whole_pages(size_bytes))) != 0)
      return cudaErrorMemoryAllocation;
    allocation.name = name;
  } else {
    forget_name(name);
  }
  allocation.use = add_use(id, size_bytes);
  const std::lock_guard lock(memory().mutex);
  const cudaError_t error = map(file, std::move(allocation), address);
  if (file >= 0) ::close(file);
  return error;
}

cudaError_t release(void* address, MemoryKind kind) {
  if (address == nullptr) return cudaSuccess;
  const std::lock_guard lock(memory().mutex);
  const auto at = find(address);
  if (at == memory().allocations.end() || at->first != number(address) || at->second.imported ||
      at->second.kind != kind)
    return cudaErrorInvalidValue;
  unmap(at);
  return cudaSuccess;
}

cudaError_t export_memory(cudaIpcMemHandle_t* handle, void* address) {
  const std::lock_guard lock(memory().mutex);
  const auto at = find(address);
  if (at == memory().allocations.end() || at->second.imported || at->second.name.empty())
    return cudaErrorInvalidValue;
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle->reserved, kTag, kTagBytes);
  std::memcpy(handle->reserved + kTagBytes, at->second.name.data(), at->second.name.size());
  return cudaSuccess;
}

cudaError_t import_memory(void** address, const cudaIpcMemHandle_t& handle) {
  if (std::memcmp(handle.reserved, kTag, kTagBytes) != 0) return cudaErrorInvalidValue;
  constexpr std::size_t kNameMax = sizeof handle - kTagBytes;
  const std::string name(handle.reserved + kTagBytes,
                         ::strnlen(handle.reserved + kTagBytes, kNameMax));
  if (is_own_name(name)) return cudaErrorDeviceUninitialized;
  Allocation allocation;
  std::uint64_t id = 0;
  if (!is_name_of_another(name, id)) return cudaErrorInvalidValue;
  const std::lock_guard lock(memory().mutex);
  for (auto& [there, known] : memory().allocations)
    if (known.imported && known.name == name) {
      ++known.num_opened;
      *address = reinterpret_cast<void*>(there);
      return cudaSuccess;
    }
  const int file = ::shm_open(name.c_str(), O_RDWR, 0);
  if (file < 0) return cudaErrorInvalidValue;
  struct stat status {};
  ::fstat(file, &status);
  allocation.size = static_cast<std::size_t>(status.st_size);
  allocation.name = name;
  allocation.imported = true;
  allocation.use = add_use(id, allocation.size);
  const cudaError_t error = map(file, std::move(allocation), address);
  ::close(file);
  return error;
}

cudaError_t close_memory(void* address) {
  const std::lock_guard lock(memory().mutex);
  const auto at = find(address);
  if (at == memory().allocations.end() || at->first != number(address) || !at->second.imported)
    return cudaErrorInvalidValue;
  if (--at->second.num_opened == 0) unmap(at);
  return cudaSuccess;
}

std::uint8_t* usable(const void* address, std::size_t size_bytes) {
  const std::lock_guard lock(memory().mutex);
  const auto at = find(address);
  if (at == memory().allocations.end()) return nullptr;
  const std::size_t offset = number(address) - at->first;
  return size_bytes > at->second.size - offset ? nullptr : at->second.bytes + offset;
}

std::size_t bytes_behind(const void* address) {
  const std::lock_guard lock(memory().mutex);
  const auto at = find(address);
  return at == memory().allocations.end() ? 0 : at->second.size - (number(address) - at->first);
}

bool is_device_address(const void* address) { return bytes_behind(address) > 0; }

void zero(const void* address, std::size_t size_bytes) {
  std::uint8_t* const bytes = usable(address, size_bytes);
  // A new allocation is all holes, and reads as zero; only what is there is written.
  constexpr std::size_t kStep = std::size_t{1} << 21;
  for (std::size_t at = 0; at < size_bytes; at += kStep) {
    const std::size_t size = std::min(kStep, size_bytes - at);
    if (reinterpret_cast<std::uintptr_t>(bytes + at) % kPage == 0 && size % kPage == 0) {
      if (::madvise(bytes + at, size, MADV_REMOVE) == 0) continue;
    }
    std::memset(bytes + at, 0, size);
  }
}

cudaError_t pin(void* memory_begin, std::size_t size_bytes) {
  const std::lock_guard lock(memory().mutex);
  auto& pinned = memory().pinned;
  const auto after = pinned.lower_bound(number(memory_begin));
  if (after != pinned.end() && after->first < number(memory_begin) + size_bytes)
    return cudaErrorHostMemoryAlreadyRegistered;
  if (after != pinned.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second > number(memory_begin))
      return cudaErrorHostMemoryAlreadyRegistered;
  }
  pinned[number(memory_begin)] = size_bytes;
  return cudaSuccess;
}

cudaError_t unpin(void* memory_begin) {
  const std::lock_guard lock(memory().mutex);
  return memory().pinned.erase(number(memory_begin)) > 0 ? cudaSuccess
                                                         : cudaErrorHostMemoryNotRegistered;
}

void forget_pins() {
  const std::lock_guard lock(memory().mutex);
  memory().pinned.clear();
}

bool is_pinned(const void* memory_begin, std::size_t size_bytes) {
  const std::lock_guard lock(memory().mutex);
  auto after = memory().pinned.upper_bound(number(memory_begin));
  if (after == memory().pinned.begin()) return false;
  --after;
  return number(memory_begin) + size_bytes <= after->first + after->second;
}

}  // namespace kvc::fake_gpu
