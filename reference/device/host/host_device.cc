// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/device/host_device.h"

#include <sys/statvfs.h>

#include <cerrno>
#include <utility>

#include "device/host/host_buffer.h"
#include "device/host/host_event.h"
#include "device/host/host_handle.h"
#include "device/host/host_stream.h"
#include "device/host/shm_mapping.h"
#include "device/host/shm_names.h"
#include "device/host/system_error.h"
#include "kvc/device/memory_gauge.h"

namespace kvc {
namespace {

constexpr std::string_view kUuidPrefix = "HOST-";

class HostDevice final : public Device, public MemoryGauge {
 public:
  explicit HostDevice(const std::string& name_prefix)
      : names_(std::make_shared<ShmNames>(name_prefix, kExportedEventsKept)) {}

  // Buffers and events may live longer than the device; their names do not.
  ~HostDevice() override { names_->unlink_all(); }
  HostDevice(const HostDevice&) = delete;
  HostDevice& operator=(const HostDevice&) = delete;

  std::string_view name() const override { return "host"; }

  bool accepts_uuid(std::string_view device_uuid) const override {
    return device_uuid.starts_with(kUuidPrefix);
  }
  std::string own_uuid() const override { return std::string(kUuidPrefix) + "0"; }

  Result<std::shared_ptr<Buffer>> open_buffer(ByteView handle) override {
    return open<Buffer, HostBuffer>(handle, kMemoryMagic, 1);
  }
  Result<std::shared_ptr<Event>> open_event(ByteView handle) override {
    return open<Event, HostEvent>(handle, kEventMagic, kEventBytes);
  }

  std::shared_ptr<Buffer> create_buffer(std::size_t size_bytes) override {
    return create<HostBuffer>(size_bytes);
  }
  std::shared_ptr<Event> create_event() override { return create<HostEvent>(kEventBytes); }

  std::unique_ptr<Stream> create_stream(const StreamOptions& options) override {
    return std::make_unique<HostStream>(options);
  }

  std::size_t free_bytes() override {
    constexpr const char* kShmFolder = "/dev/shm";
    struct statvfs status = {};
    if (::statvfs(kShmFolder, &status) != 0) throw_system_error("statvfs", kShmFolder, errno);
    return static_cast<std::size_t>(status.f_bavail) * status.f_frsize;
  }

 private:
  template <class Interface, class Object>
  Result<std::shared_ptr<Interface>> open(ByteView handle, std::string_view magic,
                                          std::size_t size_bytes_min) {
    Result<std::string> name = read_host_handle(handle, magic);
    if (!name) return name.error();
    Result<std::shared_ptr<ShmMapping>> mapping = cache_.open(*name, size_bytes_min);
    if (!mapping) return mapping.error();
    return std::shared_ptr<Interface>(
        std::make_shared<Object>(std::move(mapping).value(), std::move(name).value(), nullptr));
  }

  template <class Object>
  std::shared_ptr<Object> create(std::size_t size_bytes) {
    std::string name;
    std::shared_ptr<ShmMapping> mapping = cache_.create(*names_, name, size_bytes);
    return std::make_shared<Object>(std::move(mapping), std::move(name), names_);
  }

  const std::shared_ptr<ShmNames> names_;
  MappingCache cache_;
};

}  // namespace

std::unique_ptr<Device> create_host_device(const std::string& name_prefix) {
  return std::make_unique<HostDevice>(name_prefix);
}

}  // namespace kvc
