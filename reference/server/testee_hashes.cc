// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/chunk_hash.h"
#include "engine/object_key.h"
#include "kvc/protocol/codec.h"
#include "server/testee.h"

namespace kvc::server {
namespace {

// More at once is somebody's mistake.
constexpr std::int64_t kWorkersMax = 65536;

Json chunk_hashes(const Json& message) {
  const auto chunk_size = message.at("chunk_size").get<std::int64_t>();
  const Result<Value> value = from_typed_json(WireType::kIntList, message.at("tokens"));
  if (!value) return error_reply(value.error());
  const std::vector<Int> tokens = std::get<IntArray>(*value).to_vector();
  const auto size = static_cast<std::int64_t>(tokens.size());
  const std::int64_t start = message.value("start", std::int64_t{0});
  const std::int64_t end = std::min(message.value("end", size), size);
  if (chunk_size <= 0 || start < 0) return error_reply("range", "no chunks of this size");
  Bytes prefix = to_bytes(empty_prefix_hash());
  if (message.contains("prefix")) prefix = binary_of(message.at("prefix"));
  Json hashes = Json::array();
  for (std::int64_t at = 0; at <= end - chunk_size; at += chunk_size) {
    std::vector<std::uint32_t> chunk;
    for (std::int64_t i = at; i < at + chunk_size; ++i) {
      const std::optional<std::uint32_t> token = tokens[static_cast<std::size_t>(i)].as_u32();
      if (!token)
        return error_reply("token", "a token id that does not fit 32 bits",
                           "$.tokens[" + std::to_string(i) + "]");
      chunk.push_back(*token);
    }
    prefix = to_bytes(hash_chunk(prefix, chunk));
    if (at >= start) hashes.push_back(Json::binary(prefix));
  }
  return ok_reply(std::move(hashes));
}

Json object_keys(const Json& message) {
  const Result<Value> value =
      from_typed_json(WireType::kKey, typed_value(WireType::kKey, message.at("key")));
  if (!value) return error_reply(value.error());
  const Key& key = std::get<Key>(*value);
  const std::optional<std::int64_t> world_size = key.world_size.as_i64();
  const std::optional<std::int64_t> worker = key.worker_id.value_or(Int(0)).as_i64();
  if (!world_size || !worker || !kv_rank(key.world_size, *worker) ||
      (!key.worker_id && *world_size > kWorkersMax))
    return error_reply("range", "no such group of workers");
  Json out = Json::array();
  for (const Json& hash : message.at("hashes")) {
    // The real key's class refuses what would break its text form.
    if (key.model_name.find('@') != std::string::npos)
      return error_reply("model_name", "a model name with '@'", "$.model_name");
    const std::int64_t first = key.worker_id ? *worker : 0;
    const std::int64_t last = key.worker_id ? *worker + 1 : *world_size;
    for (std::int64_t each = first; each < last; ++each)
      out.push_back({{"chunk_hash", Json::binary(binary_of(hash))},
                     {"model_name", key.model_name},
                     {"kv_rank", kv_rank(key.world_size, each).value()},
                     {"cache_salt", key.cache_salt}});
  }
  return ok_reply(std::move(out));
}

}  // namespace

void add_testee_hashes(TesteeCommands& commands) {
  commands["chunk_hashes"] = chunk_hashes;
  commands["object_keys"] = object_keys;
}

}  // namespace kvc::server
