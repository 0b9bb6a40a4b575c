// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/host/host_event.h"
#include "kvc/device/host_device.h"
#include "kvc/protocol/assert.h"

namespace kvc {

struct ManualHostEvent::Impl {
  std::shared_ptr<HostEvent> event;
  std::uint64_t number = 0;
};

ManualHostEvent::ManualHostEvent(Device& host_device) : impl_(std::make_unique<Impl>()) {
  impl_->event = std::dynamic_pointer_cast<HostEvent>(host_device.create_event());
  KVC_ASSERT(impl_->event != nullptr);  // only the host device has such events
  impl_->number = impl_->event->begin_record();
}

ManualHostEvent::~ManualHostEvent() = default;

Bytes ManualHostEvent::ipc_handle() const { return impl_->event->ipc_handle(); }

void ManualHostEvent::complete() { impl_->event->finish_record(impl_->number); }

}  // namespace kvc
