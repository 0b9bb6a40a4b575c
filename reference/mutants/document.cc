// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "mutants/document.h"

#include <exception>
#include <utility>

#include "mutants/call.h"
#include "mutants/frames.h"

namespace kvc::mutants {
namespace {

constexpr std::size_t kElementsMax = std::size_t{1} << 20;
constexpr std::size_t kBytesMax = std::size_t{1} << 26;
constexpr std::size_t kDepthMax = 32;

}  // namespace

std::unique_ptr<Tree> parse_tree(ByteView frame) {
  auto tree = std::make_unique<Tree>();
  try {
    const msgpack::unpack_limit limit(kElementsMax, kElementsMax, kBytesMax, kBytesMax, kBytesMax,
                                      kDepthMax);
    tree->root = msgpack::unpack(tree->zone, as_text(frame).data(), frame.size(), tree->size_bytes,
                                 nullptr, nullptr, limit);
    return tree;
  } catch (const std::exception&) {
    return nullptr;
  }
}

Bytes packed(const msgpack::object& object) {
  msgpack::sbuffer buffer;
  msgpack::pack(buffer, object);
  return to_bytes(as_bytes({buffer.data(), buffer.size()}));
}

bool edit_all(msgpack::object& node, const std::function<bool(msgpack::object&)>& edit) {
  bool changed = edit(node);
  if (node.type == msgpack::type::ARRAY) {
    for (std::uint32_t i = 0; i < node.via.array.size; ++i)
      changed |= edit_all(node.via.array.ptr[i], edit);
  } else if (node.type == msgpack::type::MAP) {
    for (std::uint32_t i = 0; i < node.via.map.size; ++i)
      changed |= edit_all(node.via.map.ptr[i].val, edit);
  }
  return changed;
}

msgpack::object* field_of(const msgpack::object& map, std::string_view name) {
  if (map.type != msgpack::type::MAP) return nullptr;
  for (msgpack::object_kv* pair = first_of(map.via.map); pair != past(map.via.map); ++pair)
    if (is_text(pair->key, name)) return &pair->val;
  return nullptr;
}

void remove_field(msgpack::object& map, std::size_t index) {
  for (std::size_t i = index + 1; i < map.via.map.size; ++i)
    map.via.map.ptr[i - 1] = map.via.map.ptr[i];
  --map.via.map.size;
}

Changes with_payloads(ChangeFrame change) {
  return {.message = [change = std::move(change)](Message message,
                                                  const std::function<void(Message)>& next) {
    const Definition* const definition = definition_of(message);
    if (definition != nullptr)
      for (std::size_t i = 0;
           i < definition->payloads.size() && kFirstPayloadFrame + i < message.size(); ++i) {
        server::Frame& frame = message[kFirstPayloadFrame + i];
        if (auto other = change(frame.view(), definition->payloads[i]))
          frame = server::Frame(*std::move(other));
      }
    next(std::move(message));
  }};
}

Changes with_trees(EditTree edit) {
  return with_payloads(
      [edit = std::move(edit)](ByteView frame, WireType type) -> std::optional<Bytes> {
        const std::unique_ptr<Tree> tree = parse_tree(frame);
        if (tree == nullptr || tree->size_bytes != frame.size() || !edit(*tree, type))
          return std::nullopt;
        return packed(tree->root);
      });
}

Changes refusing_trees(
    std::function<bool(const Tree& tree, ByteView frame, WireType type)> refuse) {
  // One byte that no document begins with.
  return with_payloads(
      [refuse = std::move(refuse)](ByteView frame, WireType type) -> std::optional<Bytes> {
        const std::unique_ptr<Tree> tree = parse_tree(frame);
        if (tree == nullptr || !refuse(*tree, frame, type)) return std::nullopt;
        return Bytes{0xc1};
      });
}

}  // namespace kvc::mutants
