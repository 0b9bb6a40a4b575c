// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// What flaws remember beside the engine: which instances there are, which keys were looked up or
// stored, and what their objects are called. Any thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/object_store.h"
#include "mutants/call.h"
#include "mutants/flaw.h"

namespace kvc::mutants {

// The paged instances.
class InstanceBook {
 public:
  struct Instance {
    std::string model_name;
    Int world_size;
    std::shared_ptr<const BlockSpace> space;
  };
  // Keeps the book from now on.
  static std::shared_ptr<InstanceBook> kept(const Parts& parts);

  std::shared_ptr<const Instance> find(Int instance_id) const;
  std::optional<ObjectShape> shape_of(const std::string& model_name, Int world_size) const;
  std::vector<Int> ids() const;

 private:
  mutable std::mutex mutex_;
  std::map<Int, std::shared_ptr<const Instance>> instances_;
};

// Keys of requests that were answered, oldest first. They own their tokens. The latest kKeysMax of
// those that are not huge.
class KeyBook {
 public:
  static constexpr std::size_t kKeysMax = 1024;
  static constexpr std::size_t kTokensMax = 16'384;

  void add(const Key& key);
  std::vector<Key> all() const;
  std::optional<Key> of_request(const std::string& request_id) const;  // the latest
  std::vector<Key> take_request(const std::string& request_id);
  void clear();

 private:
  mutable std::mutex mutex_;
  std::deque<Key> keys_;
};
// A book of the Keys of these types' requests. Give it the types whose first payload is a Key.
std::shared_ptr<KeyBook> keys_of(const Parts& parts, std::initializer_list<RequestType> types);

// Of all full chunks; nothing where a token cannot be hashed.
std::vector<ChunkHash> chunks_of(const Key& key, std::size_t chunk_size);
// The objects of one worker: the key's, or worker 0.
std::vector<ObjectKey> objects_of(const Key& key, std::size_t chunk_size);

// Makes the engine forget these objects, locked or not.
void forget(ObjectStore& store, std::span<const ObjectKey> objects);

// All types with a Key as their first payload.
inline constexpr std::initializer_list<RequestType> kPagedKeyTypes{
    RequestType::kStore, RequestType::kRetrieve, RequestType::kLookup,
    RequestType::kFreeLookupLocks};
inline constexpr std::initializer_list<RequestType> kBlendKeyTypes{
    RequestType::kCbStorePreComputed,    RequestType::kCbLookupPreComputed,
    RequestType::kCbRetrievePreComputed, RequestType::kCbStoreFinal,
    RequestType::kCbLookupPreComputedV2, RequestType::kCbRetrievePreComputedV2};

// A flaw that reads another Key than the one that was sent.
Changes with_keys(std::initializer_list<RequestType> types, std::function<void(Key&)> change);
// The same that needs to know the chunk size.
Changes with_keys_and_chunk_size(std::initializer_list<RequestType> types,
                                 std::function<void(Key&, std::size_t chunk_size)> change);
// A flaw in front of handlers.
Changes with_calls(std::initializer_list<RequestType> types,
                   std::function<Outcome(Call&, const Parts&)> flaw);

}  // namespace kvc::mutants
