// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/host/shm_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "device/host/system_error.h"

namespace kvc {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  const int number_;
};

Error not_found(const char* call, const std::string& name, int error) {
  return {Errc::kNotFound, "", system_error_text(call, name, error)};
}

}  // namespace

ShmMapping::ShmMapping(std::uint8_t* address, std::size_t size_bytes)
    : address_(address), size_bytes_(size_bytes) {
  guard_.emplace(address, size_bytes);
}

ShmMapping::~ShmMapping() {
  // In this order: once it is unmapped, the place can be another thread's new mapping.
  guard_.reset();
  ::munmap(address_, size_bytes_);
}

Result<std::shared_ptr<ShmMapping>> MappingCache::map(int descriptor, const std::string& name,
                                                      std::size_t size_bytes_min) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) return not_found("fstat", name, errno);
  if (!S_ISREG(status.st_mode))
    return Error{Errc::kNotFound, "", name + " is not a shared memory object"};
  const auto size_bytes = static_cast<std::size_t>(status.st_size);
  if (status.st_size <= 0 || size_bytes < size_bytes_min)
    return Error{Errc::kNotFound, "",
                 name + " has " + std::to_string(status.st_size) + " bytes, expected at least " +
                     std::to_string(size_bytes_min)};

  const Identity identity(status.st_dev, status.st_ino);
  const std::lock_guard lock(mutex_);
  if (const auto found = mappings_.find(identity); found != mappings_.end()) {
    std::shared_ptr<ShmMapping> known = found->second.lock();
    // One that has grown since is mapped anew; one that was lost may be whole again.
    if (known && known->size_bytes() == size_bytes && !known->lost()) return known;
  }
  void* const address =
      ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) return not_found("mmap", name, errno);
  auto mapping = std::make_shared<ShmMapping>(static_cast<std::uint8_t*>(address), size_bytes);
  if (mappings_.size() >= sweep_at_) {
    std::erase_if(mappings_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = 2 * mappings_.size() + 64;
  }
  mappings_[identity] = mapping;
  return mapping;
}

Result<std::shared_ptr<ShmMapping>> MappingCache::open(const std::string& name,
                                                       std::size_t size_bytes_min) {
  // O_NONBLOCK: what lies there may be a pipe, whose opening could wait for ever.
  const Descriptor descriptor(::shm_open(name.c_str(), O_RDWR | O_NONBLOCK, 0));
  if (descriptor.get() < 0) return not_found("shm_open", name, errno);
  return map(descriptor.get(), name, size_bytes_min);
}

std::shared_ptr<ShmMapping> MappingCache::create(ShmNames& names, std::string& name,
                                                 std::size_t size_bytes) {
  if (size_bytes > static_cast<std::size_t>(std::numeric_limits<off_t>::max()))
    throw DeviceError("a shared memory object of " + std::to_string(size_bytes) + " bytes");
  const Descriptor descriptor(names.create(name));
  try {
    // posix_fallocate takes the memory now: a full /dev/shm is then an error here and not a SIGBUS
    // later.
    int error = 0;
    do {
      error = ::posix_fallocate(descriptor.get(), 0, static_cast<off_t>(size_bytes));
    } while (error == EINTR);
    if (error != 0) throw_system_error("posix_fallocate", name, error);
    Result<std::shared_ptr<ShmMapping>> mapping = map(descriptor.get(), name, size_bytes);
    if (!mapping) throw DeviceError(mapping.error().text());
    return std::move(mapping).value();
  } catch (...) {
    names.unlink(name);
    throw;
  }
}

}  // namespace kvc
