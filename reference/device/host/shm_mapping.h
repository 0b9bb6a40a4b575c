// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ShmMapping: one shared memory object, mapped for reading and writing, safe against a peer that
// shrinks it (see BusGuard). MappingCache: the same object opened twice is mapped once, and
// unmapped with its last user. The object is told by device and inode, not by name, as a name can
// be unlinked and given to another object.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "device/host/bus_guard.h"
#include "device/host/shm_names.h"
#include "kvc/protocol/result.h"

namespace kvc {

class ShmMapping {
 public:
  ShmMapping(std::uint8_t* address, std::size_t size_bytes);
  ~ShmMapping();
  ShmMapping(const ShmMapping&) = delete;
  ShmMapping& operator=(const ShmMapping&) = delete;

  std::uint8_t* address() const { return address_; }
  std::size_t size_bytes() const { return size_bytes_; }
  bool lost() const { return guard_->lost(); }

 private:
  std::uint8_t* const address_;
  const std::size_t size_bytes_;
  std::optional<BusGuard> guard_;
};

class MappingCache {
 public:
  // Opens the object of a checked name (see host_handle.h). Whatever fails is the peer's doing or
  // its bad luck: an Error, not an exception.
  Result<std::shared_ptr<ShmMapping>> open(const std::string& name, std::size_t size_bytes_min);

  // Makes an object of `size_bytes` zeros, with its memory allocated. Throws DeviceError, and then
  // leaves no object.
  std::shared_ptr<ShmMapping> create(ShmNames& names, std::string& name, std::size_t size_bytes);

 private:
  using Identity = std::pair<dev_t, ino_t>;

  Result<std::shared_ptr<ShmMapping>> map(int descriptor, const std::string& name,
                                          std::size_t size_bytes_min);

  std::mutex mutex_;
  std::map<Identity, std::weak_ptr<ShmMapping>> mappings_;
  std::size_t sweep_at_ = 64;  // size of mappings_ at which the expired ones are dropped
};

}  // namespace kvc
