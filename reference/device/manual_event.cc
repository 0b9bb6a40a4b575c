// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "kvc/device/manual_event.h"

#include "device/manual_events.h"

namespace kvc {

ManualEvent::ManualEvent(Device& device)
    : impl_(device.name() == "cuda" ? create_cuda_manual_event(device)
                                    : create_host_manual_event(device)) {}

ManualEvent::~ManualEvent() = default;

const std::shared_ptr<Event>& ManualEvent::event() const { return impl_->event(); }

void ManualEvent::complete() { impl_->complete(); }

}  // namespace kvc
