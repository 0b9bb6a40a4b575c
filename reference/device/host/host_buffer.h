// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// HostBuffer: shared memory that stands for device memory.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "device/host/host_handle.h"
#include "device/host/shm_mapping.h"
#include "device/host/shm_names.h"
#include "kvc/device/device.h"

namespace kvc {

class HostBuffer final : public Buffer {
 public:
  // `names` for a buffer made here, whose name goes with it; nullptr for one opened.
  HostBuffer(std::shared_ptr<ShmMapping> mapping, std::string name, std::shared_ptr<ShmNames> names)
      : mapping_(std::move(mapping)), name_(std::move(name)), names_(std::move(names)) {}
  ~HostBuffer() override {
    if (names_) names_->unlink(name_);
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  std::size_t size_bytes() const override { return mapping_->size_bytes(); }
  std::uint8_t* address() const override { return mapping_->address(); }
  Bytes ipc_handle() const override { return write_host_handle(kMemoryMagic, name_); }

  // True when a peer took memory away that was then touched.
  bool lost() const { return mapping_->lost(); }

 private:
  const std::shared_ptr<ShmMapping> mapping_;
  const std::string name_;
  const std::shared_ptr<ShmNames> names_;
};

}  // namespace kvc
