// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "engine/object_key.h"

#include <string>

namespace kvc {

KeyScope key_scope(std::string_view model_name, Int world_size, Int worker_id,
                   std::string_view cache_salt) {
  // Each part is ended or counted, so that no two scopes make the same text.
  std::string text = std::to_string(model_name.size()) + ":";
  text += model_name;
  text += world_size.to_string() + "/" + worker_id.to_string() + ":";
  text += cache_salt;
  return short_digest(as_bytes(text));
}

std::optional<std::int64_t> kv_rank(Int world_size, Int worker_id) {
  constexpr std::int64_t kMax = std::int64_t{1} << 32;
  const std::optional<std::int64_t> size = world_size.as_i64();
  const std::optional<std::int64_t> worker = worker_id.as_i64();
  if (!size || !worker || *size > kMax || *size < -kMax || *worker > kMax || *worker < -kMax)
    return std::nullopt;
  // World size from bit 24 and again from bit 8, worker from bit 16 and again from bit 0: they
  // overlap where they are large.
  return *size * (1 << 24) | *worker * (1 << 16) | *size * (1 << 8) | *worker;
}

}  // namespace kvc
