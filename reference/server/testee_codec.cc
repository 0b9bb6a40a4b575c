// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <optional>
#include <string>
#include <variant>

#include "kvc/protocol/codec.h"
#include "kvc/protocol/envelope.h"
#include "kvc/protocol/pickle.h"
#include "kvc/protocol/registry.h"
#include "server/testee.h"

namespace kvc::server {
namespace {

// The wire type at a position of a request type, or the reply that says why there is none.
std::variant<WireType, Json> wire_type_at(const Json& type, const Json& position) {
  const auto parsed = parse_request_type(type.get<std::string>());
  const Definition* row = parsed ? registry_0_4_5().find(*parsed) : nullptr;
  if (row == nullptr) return error_reply("unknown_type", "no request type of this name");
  if (position == "result") return row->result;
  const auto index = position.get<std::int64_t>();
  if (index >= 0 && index < static_cast<std::int64_t>(row->payloads.size()))
    return row->payloads[static_cast<std::size_t>(index)];
  return error_reply("unknown_position",
                     "it has " + std::to_string(row->payloads.size()) + " payloads");
}

Json decode_one(const Json& type, const Json& position, const Json& content) {
  const auto wire = wire_type_at(type, position);
  if (const Json* error = std::get_if<Json>(&wire)) return *error;
  const Bytes frame = binary_of(content);
  const Result<Value> value = decode_value(std::get<WireType>(wire), frame);
  if (!value) return error_reply(value.error());
  return ok_reply(message_value(to_typed_json(*value)));
}

Json encode_one(const Json& type, const Json& position, const Json& content) {
  const auto wire = wire_type_at(type, position);
  if (const Json* error = std::get_if<Json>(&wire)) return *error;
  const WireType wire_type = std::get<WireType>(wire);
  const Result<Value> value = from_typed_json(wire_type, typed_value(wire_type, content));
  if (!value) return error_reply(value.error());
  return ok_reply(Json::binary(encode_value(*value)));
}

Json batch(const Json& items, Json (*one)(const Json&, const Json&, const Json&)) {
  Json replies = Json::array();
  for (const Json& item : items) {
    try {
      replies.push_back(one(item.at(0), item.at(1), item.at(2)));
    } catch (const std::exception& error) {
      replies.push_back(error_reply("malformed", error.what()));
    }
  }
  return ok_reply(std::move(replies));
}

Json decode_type(const Json& message) {
  const Bytes frame = binary_of(message.at("bytes"));
  const Result<const Definition*> row = decode_type_frame(registry_0_4_5(), frame);
  return row ? ok_reply((*row)->number) : error_reply(row.error());
}

Json decode_pickle(const Json& message) {
  const Bytes pickle = binary_of(message.at("bytes"));
  const Result<IpcTensor> tensor = read_pickle(pickle);
  return tensor ? ok_reply(message_value(to_typed_json(*tensor))) : error_reply(tensor.error());
}

}  // namespace

void add_testee_codec(TesteeCommands& commands) {
  commands["decode"] = [](const Json& message) {
    return decode_one(message.at("type"), message.at("position"), message.at("bytes"));
  };
  commands["encode"] = [](const Json& message) {
    return encode_one(message.at("type"), message.at("position"), message.at("value"));
  };
  commands["decode_batch"] = [](const Json& message) {
    return batch(message.at("frames"), decode_one);
  };
  commands["encode_batch"] = [](const Json& message) {
    return batch(message.at("values"), encode_one);
  };
  commands["decode_type"] = decode_type;
  commands["decode_pickle"] = decode_pickle;
}

}  // namespace kvc::server
