// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// FormatAxes: which dimension of a tensor means what, for each format. The one table that discovery
// and copying both read.
#pragma once

#include <cstddef>

#include "kvc/device/layout.h"

namespace kvc {

struct FormatAxes {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t rank;
  std::size_t layer;  // kNone: a tensor for each layer
  std::size_t kv;     // kNone: MLA, keys and values in one
  std::size_t block;
  std::size_t slot;
  std::size_t head;  // kNone: MLA, one head
  std::size_t element;
};

constexpr FormatAxes format_axes(KvFormat format) {
  constexpr std::size_t kNone = FormatAxes::kNone;
  switch (format) {
    case KvFormat::kNlXTwoNbBsNhHs:
      return {5, kNone, 0, 1, 2, 3, 4};
    case KvFormat::kNlXTwoNbNhBsHs:
      return {5, kNone, 0, 1, 3, 2, 4};
    case KvFormat::kNlXNbTwoBsNhHs:
      return {5, kNone, 1, 0, 2, 3, 4};
    case KvFormat::kNlXNbTwoNhBsHs:
      return {5, kNone, 1, 0, 3, 2, 4};
    case KvFormat::kNlXNbBsHs:
      return {3, kNone, kNone, 0, 1, kNone, 2};
    case KvFormat::kNbNlTwoNhBsHs:
      return {6, 1, 2, 0, 4, 3, 5};
    case KvFormat::kTwoNlTD:
      return {5, 1, 0, 2, kNone, 3, 4};
  }
  return {};
}

}  // namespace kvc
