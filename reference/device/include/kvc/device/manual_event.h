// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// ManualEvent: an event that its owner completes by hand, to play an engine whose work is not done
// yet: recorded once, and not complete until complete() is called or the event goes. On the host
// device it is two numbers; on CUDA a kernel runs until it is told to end, with the event recorded
// behind it. Throws DeviceError. Not thread-safe. The device must outlive it.
#pragma once

#include <memory>

#include "kvc/device/device.h"

namespace kvc {

class ManualEvent {
 public:
  explicit ManualEvent(Device& device);
  ~ManualEvent();
  ManualEvent(const ManualEvent&) = delete;
  ManualEvent& operator=(const ManualEvent&) = delete;

  const std::shared_ptr<Event>& event() const;  // for a stream of one's own process
  Bytes ipc_handle() const { return event()->ipc_handle(); }
  void complete();

  class Impl {
   public:
    virtual ~Impl() = default;
    virtual const std::shared_ptr<Event>& event() const = 0;
    virtual void complete() = 0;
  };

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace kvc
