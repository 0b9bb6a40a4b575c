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

}  // namespace kvc
