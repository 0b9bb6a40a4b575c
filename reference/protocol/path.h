// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Path: where in a document the reader is, as a chain of nodes on the stack. It costs nothing until
// somebody asks for the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kvc {

struct Path {
  enum class Kind { kRoot, kField, kElement, kKey };

  Kind kind = Kind::kRoot;
  const Path* parent = nullptr;
  std::string_view name;
  std::size_t index = 0;

  Path field(std::string_view field_name) const { return {Kind::kField, this, field_name, 0}; }
  Path element(std::size_t element_index) const {
    return {Kind::kElement, this, {}, element_index};
  }
  Path key() const { return {Kind::kKey, this, {}, 0}; }

  // "$.token_ids[3]"; of a map's key, "key in $".
  std::string text() const {
    switch (kind) {
      case Kind::kRoot:
        return "$";
      case Kind::kField:
        return parent->text() + "." + std::string(name);
      case Kind::kElement:
        return parent->text() + "[" + std::to_string(index) + "]";
      case Kind::kKey:
        return "key in " + parent->text();
    }
    return "$";
  }
};

}  // namespace kvc
