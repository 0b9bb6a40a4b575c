// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// A msgpack document as a tree that can be changed, for flaws that take what they should refuse, or
// the other way round. Bounded in depth and size; what cannot be read is left alone.
#pragma once

#include <functional>
#include <memory>
#include <msgpack.hpp>
#include <optional>
#include <string_view>

#include "kvc/protocol/bytes.h"
#include "mutants/flaw.h"

namespace kvc::mutants {

// The tree's memory, and its root.
struct Tree {
  msgpack::zone zone;
  msgpack::object root;
  std::size_t size_bytes = 0;  // of the document; what follows it is not in the tree
};
std::unique_ptr<Tree> parse_tree(ByteView frame);  // null: no document, or too large
Bytes packed(const msgpack::object& object);       // in the shortest encoding

// Calls `edit` for every node, the root first, and says whether one of them was changed.
bool edit_all(msgpack::object& node, const std::function<bool(msgpack::object&)>& edit);

inline bool is_text(const msgpack::object& node, std::string_view text) {
  return node.type == msgpack::type::STR &&
         std::string_view(node.via.str.ptr, node.via.str.size) == text;
}
inline msgpack::object_kv* first_of(const msgpack::object_map& map) { return map.ptr; }
inline msgpack::object_kv* past(const msgpack::object_map& map) { return map.ptr + map.size; }

// The value of a map's field, or null.
msgpack::object* field_of(const msgpack::object& map, std::string_view name);
void remove_field(msgpack::object& map, std::size_t index);

// What becomes of one payload of a type: another frame, or the same.
using ChangeFrame = std::function<std::optional<Bytes>(ByteView frame, WireType type)>;
Changes with_payloads(ChangeFrame change);
// The same for trees: the payload is written anew if `edit` says that it changed something.
using EditTree = std::function<bool(Tree& tree, WireType type)>;
Changes with_trees(EditTree edit);
// Drops a request, of which `refuse` says so of one payload.
Changes refusing_trees(std::function<bool(const Tree& tree, ByteView frame, WireType type)> refuse);

}  // namespace kvc::mutants
