// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "mutants/flawed_stream.h"

#include <utility>

namespace kvc::mutants {
namespace {

// Every unit ends with its record(): then it is whole, and is played.
class FlawedStream final : public Stream {
 public:
  FlawedStream(std::unique_ptr<Stream> next, const PlayUnit& play_unit)
      : next_(std::move(next)), play_unit_(play_unit) {}

  void begin_unit() override { unit_ = {}; }
  void wait(std::shared_ptr<Event> event) override { unit_.wait_for = std::move(event); }
  void copy(std::shared_ptr<const BlockSpace> space, std::vector<ChunkCopy> chunks) override {
    unit_.space = std::move(space);
    unit_.copies = std::move(chunks);
  }
  void host_function(std::function<void(bool)> function) override {
    unit_.finish = std::move(function);
  }
  void record(std::shared_ptr<Event> event) override {
    unit_.done = std::move(event);
    play_unit_(std::exchange(unit_, {}), *next_);
  }
  void synchronize() override { next_->synchronize(); }
  bool idle() const override { return next_->idle(); }
  void abandon() override { next_->abandon(); }

 private:
  std::unique_ptr<Stream> next_;
  const PlayUnit& play_unit_;
  Unit unit_;
};

class FlawedDevice final : public Device {
 public:
  FlawedDevice(std::unique_ptr<Device> next, PlayUnit play_unit)
      : next_(std::move(next)), play_unit_(std::move(play_unit)) {}

  std::string_view name() const override { return next_->name(); }
  bool accepts_uuid(std::string_view uuid) const override { return next_->accepts_uuid(uuid); }
  std::string own_uuid() const override { return next_->own_uuid(); }
  Result<std::shared_ptr<Buffer>> open_buffer(ByteView handle) override {
    return next_->open_buffer(handle);
  }
  Result<std::shared_ptr<Event>> open_event(ByteView handle) override {
    return next_->open_event(handle);
  }
  std::shared_ptr<Buffer> create_buffer(std::size_t size_bytes) override {
    return next_->create_buffer(size_bytes);
  }
  std::shared_ptr<Event> create_event() override { return next_->create_event(); }
  std::unique_ptr<Stream> create_stream(const StreamOptions& options) override {
    return std::make_unique<FlawedStream>(next_->create_stream(options), play_unit_);
  }

 private:
  std::unique_ptr<Device> next_;
  const PlayUnit play_unit_;
};

}  // namespace

void play(Unit unit, Stream& stream) {
  stream.begin_unit();
  if (unit.wait_for != nullptr) stream.wait(std::move(unit.wait_for));
  if (!unit.copies.empty()) stream.copy(std::move(unit.space), std::move(unit.copies));
  if (unit.finish) stream.host_function(std::move(unit.finish));
  stream.record(std::move(unit.done));
}

std::unique_ptr<Device> create_flawed_device(std::unique_ptr<Device> device, PlayUnit play_unit) {
  return std::make_unique<FlawedDevice>(std::move(device), std::move(play_unit));
}

}  // namespace kvc::mutants
