// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "device/cuda/fake/fake_event.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "device/cuda/fake/fake_faults.h"
#include "device/cuda/fake/fake_ledger.h"

namespace kvc::fake_gpu {
namespace {

constexpr char kTag[] = "KVFAKEE1";
constexpr std::size_t kTagBytes = sizeof kTag - 1;
constexpr std::chrono::microseconds kLook{20};

struct Events {
  std::mutex mutex;
  std::map<cudaEvent_t, std::shared_ptr<FakeEvent>> named;
  std::uintptr_t last = 0x1000;
};

Events& events() {
  static auto* const all = new Events();
  return *all;
}

EventCounts* map_counts(const std::string& name, int flags) {
  const int file = ::shm_open(name.c_str(), O_RDWR | flags, 0600);
  if (file < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (flags == 0 || ::ftruncate(file, sizeof(EventCounts)) == 0)
    memory = ::mmap(nullptr, sizeof(EventCounts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<EventCounts*>(memory);
}

void add(cudaEvent_t* event, std::shared_ptr<FakeEvent> made) {
  const std::lock_guard lock(events().mutex);
  *event = reinterpret_cast<cudaEvent_t>(++events().last);
  events().named[*event] = std::move(made);
}

}  // namespace

FakeEvent::~FakeEvent() {
  if (name_.empty()) {
    delete counts_;
    return;
  }
  ::munmap(counts_, sizeof *counts_);
  if (is_own_name(name_)) forget_name(name_);
}

cudaError_t FakeEvent::create(cudaEvent_t* event, unsigned flags) {
  if ((flags & cudaEventInterprocess) == 0) {
    add(event, std::make_shared<FakeEvent>(new EventCounts{}, flags, ""));
    return cudaSuccess;
  }
  if ((flags & cudaEventDisableTiming) == 0) return cudaErrorInvalidValue;
  std::uint64_t id = 0;
  const std::string name = new_name(id);
  EventCounts* const counts = map_counts(name, O_CREAT | O_EXCL);
  if (counts == nullptr) return cudaErrorMemoryAllocation;
  add(event, std::make_shared<FakeEvent>(counts, flags, name));
  return cudaSuccess;
}

cudaError_t FakeEvent::destroy(cudaEvent_t event) {
  std::shared_ptr<FakeEvent> last;  // ends outside the lock
  const std::lock_guard lock(events().mutex);
  const auto found = events().named.find(event);
  if (found == events().named.end()) return cudaErrorInvalidResourceHandle;
  last = std::move(found->second);
  events().named.erase(found);
  return cudaSuccess;
}

cudaError_t FakeEvent::export_event(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  const std::shared_ptr<FakeEvent> found = find(event);
  if (found == nullptr || (found->flags_ & cudaEventInterprocess) == 0)
    return cudaErrorInvalidResourceHandle;
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle->reserved, kTag, kTagBytes);
  std::memcpy(handle->reserved + kTagBytes, found->name_.data(), found->name_.size());
  return cudaSuccess;
}

cudaError_t FakeEvent::import_event(cudaEvent_t* event, const cudaIpcEventHandle_t& handle) {
  if (std::memcmp(handle.reserved, kTag, kTagBytes) != 0) return cudaErrorInvalidResourceHandle;
  const std::string name(handle.reserved + kTagBytes,
                         ::strnlen(handle.reserved + kTagBytes, sizeof handle - kTagBytes));
  std::uint64_t id = 0;
  if (!is_name_of_another(name, id)) return cudaErrorInvalidResourceHandle;
  EventCounts* const counts = map_counts(name, 0);
  if (counts == nullptr) return cudaErrorInvalidResourceHandle;
  add(event, std::make_shared<FakeEvent>(counts, cudaEventDisableTiming, name));
  return cudaSuccess;
}

std::shared_ptr<FakeEvent> FakeEvent::find(cudaEvent_t event) {
  const std::lock_guard lock(events().mutex);
  const auto found = events().named.find(event);
  return found == events().named.end() ? nullptr : found->second;
}

FakeEvent::Record FakeEvent::ask(const std::shared_ptr<FakeEvent>& event) {
  Record record;
  if (event->name_.empty()) {
    record.done_ = std::make_shared<std::atomic<bool>>(false);
    const std::lock_guard lock(event->mutex_);
    event->last_ = record.done_;
  } else {
    record.shared_ = event;
    record.number_ = ++event->counts_->recorded;
  }
  return record;
}

FakeEvent::Record FakeEvent::last(const std::shared_ptr<FakeEvent>& event) {
  Record record;
  if (event->name_.empty()) {
    const std::lock_guard lock(event->mutex_);
    record.done_ = event->last_;
  } else {
    record.shared_ = event;
    record.number_ = event->counts_->recorded;
  }
  return record;
}

bool FakeEvent::Record::complete() const {
  return done_ != nullptr ? done_->load() : shared_->counts_->completed.load() >= number_;
}

void FakeEvent::Record::set_complete() {
  if (done_ != nullptr)
    *done_ = true;
  else
    shared_->counts_->completed = number_;
}

void FakeEvent::Record::wait() const {
  while (!complete() && sticky_error() == cudaSuccess) std::this_thread::sleep_for(kLook);
}

}  // namespace kvc::fake_gpu
