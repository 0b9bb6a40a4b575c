// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/host/host_event.h"
#include "device/manual_events.h"
#include "kvc/protocol/assert.h"

namespace kvc {
namespace {

class ManualHostEventImpl final : public ManualEvent::Impl {
 public:
  explicit ManualHostEventImpl(Device& device)
      : event_(device.create_event()), host_event_(dynamic_cast<HostEvent*>(event_.get())) {
    KVC_ASSERT(host_event_ != nullptr);
    number_ = host_event_->begin_record();
  }
  const std::shared_ptr<Event>& event() const override { return event_; }
  void complete() override { host_event_->finish_record(number_); }

 private:
  const std::shared_ptr<Event> event_;
  HostEvent* const host_event_;
  std::uint64_t number_ = 0;
};

}  // namespace

std::unique_ptr<ManualEvent::Impl> create_host_manual_event(Device& device) {
  return std::make_unique<ManualHostEventImpl>(device);
}

}  // namespace kvc
