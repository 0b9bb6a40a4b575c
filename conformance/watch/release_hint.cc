// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/watch/release_hint.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "conformance/harness/release.h"
#include "kvc/protocol/codec.h"
#include "kvc/protocol/envelope.h"

namespace kvc::conformance {
namespace {

// How many request types later releases have (measured: their enums). A number is first known in
// the first of them that has so many.
struct Members {
  int count;
  const char* release;
};
constexpr std::array<Members, 4> kLater{
    {{27, "0.4.6"}, {32, "0.4.7"}, {36, "0.5.0"}, {40, "0.5.3"}}};

std::string later_than(int number) {
  for (const Members& later : kLater) {
    if (number <= later.count) return fmt::format("a request of {} or later", later.release);
  }
  return "";
}

// The type of a release that we know whole, if all payloads are of its types too.
std::string of_known_release(const Registry& registry, std::span<const ByteView> frames) {
  for (const std::string_view name : known_releases()) {
    if (name == registry.release()) continue;
    const Registry& other = *find_registry(name);
    const Result<const Definition*> definition = decode_type_frame(other, frames[1]);
    if (!definition || !decode_payloads(**definition, frames.subspan(2))) continue;
    return fmt::format("{} of {}", to_string((*definition)->type), name);
  }
  return "";
}

}  // namespace

std::string release_hint(const Registry& registry, std::span<const ByteView> frames) {
  if (frames.size() < 2) return "";
  if (decode<std::string>(frames[1])) return "a type by its name, as 0.5.6 and later take it";
  const Result<Int> number = decode<Int>(frames[1]);
  if (!number) return "";
  if (*number == Int(kNoopOf0_4_6) && frames.size() == 2) return "NOOP of 0.4.6";
  if (std::string known = of_known_release(registry, frames); !known.empty()) return known;
  const int num_types = static_cast<int>(registry.definitions().size());
  for (int i = num_types + 1; i <= kLater.back().count; ++i) {
    if (*number == Int(i)) return later_than(i);
  }
  return "";
}

}  // namespace kvc::conformance
