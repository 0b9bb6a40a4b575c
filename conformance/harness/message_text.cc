// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/harness/message_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "kvc/protocol/codec.h"
#include "kvc/protocol/envelope.h"

namespace kvc::conformance {
namespace {

// "NOOP uid=1", or what stands in the type frame's place.
std::string head_in_words(const Definition* definition, const Frames& frames) {
  const std::string name = definition != nullptr ? std::string(to_string(definition->type))
                                                 : "unknown type " + msgpack_in_words(frames[1]);
  return fmt::format("{} uid={}", name, msgpack_in_words(frames[0]));
}

const Definition* definition_of(const Registry& registry, const Frames& frames) {
  const Result<const Definition*> found = decode_type_frame(registry, frames[1]);
  return found ? *found : nullptr;
}

std::string all_in_words(const Frames& frames, std::size_t from) {
  std::string out;
  for (std::size_t i = from; i < frames.size(); ++i)
    out += (i > from ? ", " : "") + msgpack_in_words(frames[i]);
  return "(" + out + ")";
}

}  // namespace

std::string frames_hex(const Frames& frames, std::size_t frame_bytes_max) {
  std::string out;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i > 0) out += '|';
    const ByteView frame = frames[i];
    out += to_hex(frame.first(std::min(frame.size(), frame_bytes_max)));
    if (frame.size() > frame_bytes_max) out += fmt::format("…({} bytes)", frame.size());
  }
  return out;
}

std::string describe_request(const Registry& registry, const Frames& frames) {
  if (frames.size() < 2)
    return fmt::format("{} frame(s), no request: {}", frames.size(), all_in_words(frames, 0));
  const Definition* definition = definition_of(registry, frames);
  const std::string head = head_in_words(definition, frames);
  if (definition == nullptr) return head + " " + all_in_words(frames, 2);
  const std::vector<ByteView> payloads(frames.begin() + 2, frames.end());
  const Result<std::vector<Value>> values = decode_payloads(*definition, payloads);
  if (!values)
    return fmt::format("{} {}: {}", head, all_in_words(frames, 2), values.error().text());
  std::string out;
  for (std::size_t i = 0; i < values->size(); ++i)
    out += (i > 0 ? ", " : "") + describe((*values)[i]);
  return fmt::format("{} ({})", head, out);
}

std::string describe_response(const Registry& registry, const Frames& frames) {
  if (frames.size() < 2)
    return fmt::format("{} frame(s), no response: {}", frames.size(), all_in_words(frames, 0));
  const Definition* definition = definition_of(registry, frames);
  const std::string head = head_in_words(definition, frames) + " -> ";
  if (frames.size() > 3)
    return fmt::format("{}{} in {} frames", head, all_in_words(frames, 2), frames.size());
  if (definition == nullptr) return head + all_in_words(frames, 2);
  const std::vector<ByteView> result(frames.begin() + 2, frames.end());
  const Result<Value> value = decode_result(*definition, result);
  if (value) return head + describe(*value) + (result.empty() ? " (no result frame)" : "");
  const std::string what = result.empty() ? "no result frame" : msgpack_in_words(result[0]);
  return fmt::format("{}{}: {}", head, what, value.error().text());
}

}  // namespace kvc::conformance
