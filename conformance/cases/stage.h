// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Stage: for every request type, payloads that are known to be answered, written with the byte
// builder. A case changes one thing in them, so that only this can be the reason of a refusal.
// What a request needs to be answered (a registered instance, an event) is made when first asked
// for, and undone with the stage. One stage lives within one case.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/harness/byte_builder.h"
#include "conformance/harness/case.h"

namespace kvc::conformance {

// The payloads' names in the seed's comments, in order: "key", "instance_id", …
const std::vector<std::string_view>& payload_names(RequestType type);

// What a server must have for requests of this type to be answered.
std::vector<Capability> capabilities_of(RequestType type);

// What a payload of this type consists of: fields of a map, or of the maps in an array.
struct Field {
  std::string name;
  WireType type;
  bool required = true;
  Bytes valid;
};

class Stage {
 public:
  explicit Stage(Case& test);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // The payloads of a request that is answered, any number of times.
  Frames valid(RequestType type);
  // The same, with one payload replaced.
  Frames with(RequestType type, std::size_t index, Bytes payload);

  // The fields of payload `index`, in the order in which the real encoder writes them; none when
  // the payload is no map and no array of maps. compose() makes the payload of them again.
  std::vector<Field> fields(RequestType type, std::size_t index);
  static Bytes compose(WireType type, const std::vector<msg::Pair>& fields);

  // A tensor that can be registered, in a buffer of the stage's own, and the payload with it alone.
  IpcTensor tensor();
  Bytes kv_cache();
  // REGISTER_KV_CACHE payloads with another tensor's pickle, under a new instance_id.
  Frames registration_of(ByteView pickle, std::uint64_t instance_id);
  std::uint64_t new_instance_id();
  // A STORE for the instance that would be True if `instance_id` were registered with tensor().
  Frames store_of(std::uint64_t instance_id);
  // REGISTER_KV_CACHE is answered, and the instance goes with the stage.
  void register_instance();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kvc::conformance
