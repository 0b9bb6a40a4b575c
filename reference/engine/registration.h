// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// RegistrationTable: the engine instances that are registered, each with its opened buffers, its
// layout and a stream of its own, so that one instance's late event holds up nobody else.
//
// Rules: an instance_id that is registered stays as it was first; a blend buffer replaces the one
// before it. Instances of the same (model_name, world_size) share objects, so one whose objects
// would look different is refused (0.4.5 lets it in and mixes the bytes). Paged instances and blend
// buffers are two tables; an object that looks different is absent for the other.
//
// An instance that goes may have copies in flight, and a stream waits for its work when it is
// destroyed. So whoever lets go of a Registration last only hands it to a thread that ends streams:
// nobody else waits. Any thread may call anything.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/object_store.h"
#include "kvc/device/device.h"
#include "kvc/protocol/values.h"

namespace kvc {

// Equal for layouts whose chunk objects hold the same bytes in the same order.
ObjectShape object_shape(const Layout& layout);

struct Registration {
  Int instance_id;
  std::string model_name;
  Int world_size;
  std::shared_ptr<const BlockSpace> space;
  ObjectShape shape;
  std::unique_ptr<Stream> stream;
  std::mutex unit_mutex;  // held while one request queues its unit of work on the stream
};
using RegistrationRef = std::shared_ptr<Registration>;

// Destroys registrations on a thread of its own, when their streams are idle. What they still wait
// for after `limit` is given up: their clients are gone, and until it ends their memory is held. At
// the end all are.
class StreamEnder {
 public:
  explicit StreamEnder(std::chrono::milliseconds limit = std::chrono::seconds(5));
  ~StreamEnder();
  StreamEnder(const StreamEnder&) = delete;
  StreamEnder& operator=(const StreamEnder&) = delete;

  void take(std::unique_ptr<Registration> registration);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  struct Ending {
    std::unique_ptr<Registration> registration;
    std::chrono::steady_clock::time_point until;
  };
  const std::chrono::milliseconds limit_;
  std::vector<Ending> ending_;
  bool stopping_ = false;
  std::thread thread_;
};

class RegistrationTable {
 public:
  RegistrationTable(Device& device, std::size_t chunk_size, std::chrono::milliseconds wait_limit);
  // Gives up all that streams wait for. REQUIRES: no other call runs.
  ~RegistrationTable();

  // Answers false when the instance is registered already. On an error nothing has changed.
  Result<bool> add(Int instance_id, const KVCache& kv_cache, const std::string& model_name,
                   Int world_size, EngineType engine, const LayoutHints& hints);
  // Registers a blend buffer, in place of the one the instance had. On an error nothing has
  // changed.
  Result<None> put_blend(Int instance_id, const KVCache& kv_cache, const std::string& model_name,
                         Int world_size);
  // Answers whether there was something to remove.
  bool remove(Int instance_id);

  RegistrationRef find(Int instance_id) const;  // null when there is none
  // The shape of the objects of (model_name, world_size), if an instance of it is registered.
  std::optional<ObjectShape> find_shape(const std::string& model_name, Int world_size) const;
  std::size_t size() const;

 private:
  using Space = std::shared_ptr<const BlockSpace>;
  RegistrationRef make(Int instance_id, const Space& space, const std::string& model_name,
                       Int world_size) const;
  // Under the lock. Nothing has changed on an error.
  Result<void> check_shape(const Registration& registration, const Registration* replaced) const;
  void insert(RegistrationRef registration);
  RegistrationRef take_out(Int instance_id);

  Device& device_;
  const std::size_t chunk_size_;
  const std::chrono::milliseconds wait_limit_;
  std::shared_ptr<StreamEnder> ender_;
  mutable std::mutex mutex_;
  std::map<Int, RegistrationRef> by_instance_;
  struct Model {
    ObjectShape shape;
    std::size_t num_instances = 0;
  };
  std::map<std::pair<std::string, Int>, Model> by_model_;
};

}  // namespace kvc
