// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/registration.h"

#include <algorithm>
#include <utility>

#include "kvc/device/open_tensor.h"

namespace kvc {
namespace {

// How often streams of instances that are gone are looked at. Nobody waits for it.
constexpr std::chrono::milliseconds kEndingTick{50};

}  // namespace

ObjectShape object_shape(const Layout& layout) {
  std::string text = std::to_string(layout.chunk_size);
  for (const LayerGroup& group : layout.groups) {
    text += ";" + std::to_string(group.kv_size) + "," + std::to_string(group.slots_per_chunk) +
            "," + std::to_string(group.hidden_bytes()) + "," + group.dtype + ",";
    for (const std::size_t layer : group.layers) text += std::to_string(layer) + ".";
  }
  return short_digest(as_bytes(text));
}

StreamEnder::StreamEnder(std::chrono::milliseconds limit)
    : limit_(limit), thread_([this] { run(); }) {}

StreamEnder::~StreamEnder() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void StreamEnder::take(std::unique_ptr<Registration> registration) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) registration->stream->abandon();
    ending_.push_back({std::move(registration), std::chrono::steady_clock::now() + limit_});
  }
  changed_.notify_one();
}

void StreamEnder::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    std::vector<std::unique_ptr<Registration>> ended;
    const auto now = std::chrono::steady_clock::now();
    for (Ending& ending : ending_) {
      if (now > ending.until) ending.registration->stream->abandon();
      if (stopping_ || ending.registration->stream->idle())
        ended.push_back(std::move(ending.registration));
    }
    std::erase_if(ending_, [](const Ending& ending) { return ending.registration == nullptr; });
    const bool last = stopping_;
    lock.unlock();
    for (const std::unique_ptr<Registration>& registration : ended)
      registration->stream->abandon();  // all at once, so that they end side by side
    ended.clear();
    if (last) return;
    lock.lock();
    if (ending_.empty())
      changed_.wait(lock, [this] { return stopping_ || !ending_.empty(); });
    else
      changed_.wait_for(lock, kEndingTick, [this] { return stopping_; });
  }
}

RegistrationTable::RegistrationTable(Device& device, std::size_t chunk_size,
                                     std::chrono::milliseconds wait_limit)
    : device_(device),
      chunk_size_(chunk_size),
      wait_limit_(wait_limit),
      ender_(std::make_shared<StreamEnder>()) {}

RegistrationTable::~RegistrationTable() {
  for (const auto& [id, registration] : by_instance_) registration->stream->abandon();
  by_instance_.clear();
}

Result<bool> RegistrationTable::add(Int instance_id, const KVCache& kv_cache,
                                    const std::string& model_name, Int world_size,
                                    EngineType engine, const LayoutHints& hints) {
  if (find(instance_id) != nullptr) return false;
  const auto space = open_block_space(device_, kv_cache, engine, hints, chunk_size_);
  if (!space) return space.error();
  RegistrationRef registration = make(instance_id, *space, model_name, world_size);

  const std::lock_guard lock(mutex_);
  if (by_instance_.contains(instance_id)) return false;
  if (Result<void> checked = check_shape(*registration, nullptr); !checked) return checked.error();
  insert(std::move(registration));
  return true;
}

Result<None> RegistrationTable::put_blend(Int instance_id, const KVCache& kv_cache,
                                          const std::string& model_name, Int world_size) {
  const auto space = open_blend_space(device_, kv_cache, chunk_size_);
  if (!space) return space.error();
  RegistrationRef registration = make(instance_id, *space, model_name, world_size);

  RegistrationRef replaced;  // let go of outside the lock
  const std::lock_guard lock(mutex_);
  const auto entry = by_instance_.find(instance_id);
  const Registration* const before = entry == by_instance_.end() ? nullptr : entry->second.get();
  if (Result<void> checked = check_shape(*registration, before); !checked) return checked.error();
  replaced = take_out(instance_id);
  insert(std::move(registration));
  return None{};
}

RegistrationRef RegistrationTable::make(Int instance_id, const Space& space,
                                        const std::string& model_name, Int world_size) const {
  auto registration = std::make_unique<Registration>();
  registration->instance_id = instance_id;
  registration->model_name = model_name;
  registration->world_size = world_size;
  registration->space = space;
  registration->shape = object_shape(space->layout);
  StreamOptions stream_options;
  stream_options.wait_limit = wait_limit_;
  registration->stream = device_.create_stream(stream_options);
  return RegistrationRef(registration.release(), [ender = ender_](Registration* gone) {
    ender->take(std::unique_ptr<Registration>(gone));
  });
}

Result<void> RegistrationTable::check_shape(const Registration& registration,
                                            const Registration* replaced) const {
  const auto model = by_model_.find({registration.model_name, registration.world_size});
  if (model == by_model_.end() || model->second.shape == registration.shape) return {};
  const bool only_the_replaced_one = replaced != nullptr && model->second.num_instances == 1 &&
                                     replaced->model_name == registration.model_name &&
                                     replaced->world_size == registration.world_size;
  if (only_the_replaced_one) return {};
  return Error{Errc::kInvalidArgument, "",
               "another instance of this model and world size has other layers or sizes"};
}

void RegistrationTable::insert(RegistrationRef registration) {
  Model& model = by_model_
                     .try_emplace({registration->model_name, registration->world_size},
                                  Model{registration->shape, 0})
                     .first->second;
  ++model.num_instances;
  const Int instance_id = registration->instance_id;
  by_instance_[instance_id] = std::move(registration);
}

RegistrationRef RegistrationTable::take_out(Int instance_id) {
  const auto entry = by_instance_.find(instance_id);
  if (entry == by_instance_.end()) return nullptr;
  RegistrationRef gone = std::move(entry->second);
  by_instance_.erase(entry);
  const auto model = by_model_.find({gone->model_name, gone->world_size});
  if (--model->second.num_instances == 0) by_model_.erase(model);
  return gone;
}

bool RegistrationTable::remove(Int instance_id) {
  RegistrationRef gone;  // let go of outside the lock
  const std::lock_guard lock(mutex_);
  gone = take_out(instance_id);
  return gone != nullptr;
}

RegistrationRef RegistrationTable::find(Int instance_id) const {
  const std::lock_guard lock(mutex_);
  const auto entry = by_instance_.find(instance_id);
  return entry == by_instance_.end() ? nullptr : entry->second;
}

std::optional<ObjectShape> RegistrationTable::find_shape(const std::string& model_name,
                                                         Int world_size) const {
  const std::lock_guard lock(mutex_);
  const auto model = by_model_.find({model_name, world_size});
  if (model == by_model_.end()) return std::nullopt;
  return model->second.shape;
}

std::size_t RegistrationTable::size() const {
  const std::lock_guard lock(mutex_);
  return by_instance_.size();
}

}  // namespace kvc
