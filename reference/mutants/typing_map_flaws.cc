// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of the types that are maps: Key, LayoutHints, BlockAllocationRecord, CBMatchResult.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "mutants/document.h"
#include "mutants/flaw.h"

namespace kvc::mutants {
namespace {

using msgpack::object;
namespace type = msgpack::type;

constexpr std::array<std::string_view, 8> kKeyFields{"model_name", "world_size", "worker_id",
                                                     "token_ids",  "start",      "end",
                                                     "request_id", "cache_salt"};

std::string_view text_of(const object& node) {
  if (node.type != type::STR) return {};
  return {node.via.str.ptr, node.via.str.size};
}

std::size_t place_of(const object& name) {
  return static_cast<std::size_t>(std::find(kKeyFields.begin(), kKeyFields.end(), text_of(name)) -
                                  kKeyFields.begin());
}

Changes refusing_keys(std::function<bool(const msgpack::object_map&)> refuse) {
  return refusing_trees([refuse = std::move(refuse)](const Tree& tree, ByteView, WireType of) {
    return of == WireType::kKey && tree.root.type == type::MAP && refuse(tree.root.via.map);
  });
}

Changes with_keys(std::function<bool(object&, msgpack::zone&)> edit) {
  return with_trees([edit = std::move(edit)](Tree& tree, WireType of) {
    return of == WireType::kKey && edit(tree.root, tree.zone);
  });
}

bool has_unknown(const msgpack::object_map& map) {
  return std::any_of(first_of(map), past(map), [](const msgpack::object_kv& pair) {
    return place_of(pair.key) == kKeyFields.size();
  });
}

bool out_of_order(const msgpack::object_map& map) {
  return !std::is_sorted(first_of(map), past(map),
                         [](const msgpack::object_kv& a, const msgpack::object_kv& b) {
                           return place_of(a.key) < place_of(b.key);
                         });
}

bool without_salt(const msgpack::object_map& map) {
  return std::none_of(first_of(map), past(map), [](const msgpack::object_kv& pair) {
    return text_of(pair.key) == "cache_salt";
  });
}

// As a decoder does that fills each field once.
bool first_of_a_repeated_field(object& root, msgpack::zone&) {
  if (root.type != type::MAP) return false;
  bool changed = false;
  for (std::size_t i = root.via.map.size; i-- > 0;)
    for (std::size_t j = 0; j < i; ++j)
      if (text_of(root.via.map.ptr[j].key) == text_of(root.via.map.ptr[i].key)) {
        remove_field(root, i);
        changed = true;
        break;
      }
  return changed;
}

// Where a field is missing, its default.
bool with_defaults(object& root, msgpack::zone& zone) {
  if (root.type != type::MAP) return false;
  std::vector<msgpack::object_kv> pairs(first_of(root.via.map), past(root.via.map));
  for (const char* const name : {"request_id", "start", "end"}) {
    if (field_of(root, name) != nullptr) continue;
    msgpack::object_kv pair;
    pair.key = object(std::string(name), zone);
    pair.val = name == kKeyFields[6] ? object(std::string(), zone) : object(0);
    pairs.push_back(pair);
  }
  if (pairs.size() == root.via.map.size) return false;
  auto* const copy = static_cast<msgpack::object_kv*>(
      zone.allocate_align(pairs.size() * sizeof(msgpack::object_kv)));
  std::copy(pairs.begin(), pairs.end(), copy);
  root.via.map.ptr = copy;
  root.via.map.size = static_cast<std::uint32_t>(pairs.size());
  return true;
}

// The fields in their order, without names.
bool array_to_key(object& root, msgpack::zone& zone) {
  if (root.type != type::ARRAY || root.via.array.size > kKeyFields.size()) return false;
  const std::uint32_t size = root.via.array.size;
  auto* const pairs =
      static_cast<msgpack::object_kv*>(zone.allocate_align(size * sizeof(msgpack::object_kv)));
  for (std::uint32_t i = 0; i < size; ++i) {
    pairs[i].key = object(std::string(kKeyFields[i]), zone);
    pairs[i].val = root.via.array.ptr[i];
  }
  root.type = type::MAP;
  root.via.map.ptr = pairs;
  root.via.map.size = size;
  return true;
}

bool mend_salt(object& root, msgpack::zone& zone) {
  object* const salt = field_of(root, "cache_salt");
  if (salt == nullptr || salt->type != type::STR) return false;
  std::string text(text_of(*salt));
  const std::size_t size = text.size();
  std::erase_if(text, [](char c) { return c == '@' || c == '/' || c == '\\' || c == '\0'; });
  if (text.size() == size) return false;
  *salt = object(text, zone);
  return true;
}

bool cut_salt(object& root, msgpack::zone& zone) {
  object* const salt = field_of(root, "cache_salt");
  if (salt == nullptr || text_of(*salt).size() <= 128) return false;
  *salt = object(std::string(text_of(*salt).substr(0, 64)), zone);
  return true;
}

bool long_in_bytes(const msgpack::object_map& map) {
  return std::any_of(first_of(map), past(map), [](const msgpack::object_kv& pair) {
    return text_of(pair.key) == "cache_salt" && text_of(pair.val).size() > 128;
  });
}

bool digits_to_tokens(object& root, msgpack::zone&) {
  object* const tokens = field_of(root, "token_ids");
  if (tokens == nullptr || tokens->type != type::ARRAY) return false;
  return edit_all(*tokens, [](object& node) {
    if (node.type != type::STR && node.type != type::NIL && node.type != type::BOOLEAN)
      return false;
    node = object(0);
    return true;
  });
}

Changes with_hints(std::function<bool(const object& name, const object& value)> drop) {
  return with_trees([drop = std::move(drop)](Tree& tree, WireType of) {
    if (of != WireType::kLayoutHints || tree.root.type != type::MAP) return false;
    bool changed = false;
    for (std::size_t i = tree.root.via.map.size; i-- > 0;)
      if (drop(tree.root.via.map.ptr[i].key, tree.root.via.map.ptr[i].val)) {
        remove_field(tree.root, i);
        changed = true;
      }
    return changed;
  });
}

// Adds a field to each map of an array that lacks it.
Changes with_elements(WireType wanted, std::string name, bool as_bytes_of_a_hash) {
  return with_trees([wanted, name = std::move(name), as_bytes_of_a_hash](Tree& tree, WireType of) {
    if (of != wanted || tree.root.type != type::ARRAY) return false;
    bool changed = false;
    for (std::uint32_t i = 0; i < tree.root.via.array.size; ++i) {
      object& map = tree.root.via.array.ptr[i];
      if (map.type != type::MAP || field_of(map, name) != nullptr) continue;
      auto* const pairs = static_cast<msgpack::object_kv*>(
          tree.zone.allocate_align((map.via.map.size + 1) * sizeof(msgpack::object_kv)));
      std::copy(first_of(map.via.map), past(map.via.map), pairs);
      pairs[map.via.map.size].key = object(name, tree.zone);
      pairs[map.via.map.size].val = as_bytes_of_a_hash ? object(std::vector<char>(32), tree.zone)
                                                       : object(std::vector<int>(), tree.zone);
      map.via.map.ptr = pairs;
      ++map.via.map.size;
      changed = true;
    }
    return changed;
  });
}

}  // namespace

void add_typing_map_flaws(FlawList& list) {
  list.push_back({"unknown-fields-refused", "Refuses a Key with a field that it does not know.",
                  "typing.map-forms", [] { return refusing_keys(has_unknown); }});
  list.push_back({"fields-in-order-only", "Refuses a Key whose fields are not in their order.",
                  "typing.map-forms", [] { return refusing_keys(out_of_order); }});
  list.push_back({"first-of-repeated-fields", "Of a field that is in a Key twice, takes the first.",
                  "typing.map-forms", [] { return with_keys(first_of_a_repeated_field); }});
  list.push_back({"salt-required", "Refuses a Key without cache_salt.", "typing.map-forms",
                  [] { return refusing_keys(without_salt); }});
  list.push_back({"key-with-defaults", "Takes a Key without request_id, start or end.",
                  "typing.key", [] { return with_keys(with_defaults); }});
  list.push_back({"key-as-array", "Takes an array of a Key's fields.", "typing.key",
                  [] { return with_keys(array_to_key); }});
  list.push_back({"any-tokens", "Takes for 0 what is no int among the token_ids.", "typing.key",
                  [] { return with_keys(digits_to_tokens); }});
  list.push_back({"salt-of-any-characters", "Drops what a cache_salt must not hold, and goes on.",
                  "typing.cache-salt", [] { return with_keys(mend_salt); }});
  list.push_back({"salt-of-any-length", "Cuts a cache_salt that is too long.", "typing.cache-salt",
                  [] { return with_keys(cut_salt); }});
  list.push_back({"salt-counted-in-bytes", "Refuses a cache_salt of more than 128 bytes.",
                  "typing.cache-salt", [] { return refusing_keys(long_in_bytes); }});
  list.push_back(
      {"nil-hints", "Takes nil for a hint that is not given.", "typing.layout-hints", [] {
         return with_hints(
             [](const object&, const object& value) { return value.type == type::NIL; });
       }});
  list.push_back({"unknown-kv-layout", "Ignores a kv_layout that it does not know.",
                  "typing.layout-hints", [] {
                    return with_hints([](const object& name, const object& value) {
                      return is_text(name, "kv_layout") && value.type == type::STR &&
                             !parse_kv_layout(text_of(value));
                    });
                  }});
  list.push_back({"records-with-defaults", "Takes a BlockAllocationRecord without new_token_ids.",
                  "typing.block-allocation-records", [] {
                    return with_elements(WireType::kBlockAllocationRecords, "new_token_ids", false);
                  }});
  list.push_back({"matches-with-defaults", "Takes a CBMatchResult without a hash.",
                  "typing.match-results",
                  [] { return with_elements(WireType::kCBMatchResults, "hash", true); }});
}

}  // namespace kvc::mutants
