// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/fuzz/mutation.h"

#include "conformance/fuzz/bad_payloads.h"
#include "conformance/fuzz/map_fields.h"
#include "conformance/harness/byte_builder.h"
#include "conformance/harness/pickle_builder.h"
#include "kvc/protocol/assert.h"
#include "kvc/protocol/codec.h"
#include "kvc/protocol/envelope.h"

namespace kvc::conformance {
namespace {

constexpr std::size_t kUidBytesMin = 6;  // so that no two of a run are the same

Bytes any_of(const std::vector<Bytes>& choices, Random& random) {
  return choices[below(random, choices.size())];
}

bool longer(Frames& frames, Random& random) {
  if (frames.size() < 3) return false;
  for (std::size_t i = 2; i < frames.size(); ++i)
    if (one_in(random, 2) || frames.size() == 3)
      frames[i] = any_of(msg::other_encodings(frames[i]), random);
  return true;
}

// A document that no field of the protocol looks at.
Bytes anything(Random& random) {
  return any_of({msg::nil(), msg::boolean(true), msg::f64(0.5), msg::bin("x"),
                 msg::nested_arrays(below(random, 60)), msg::ext(5, as_bytes("abc")),
                 msg::map({{msg::str("a"), msg::integer(-1)}})},
                random);
}

void change_form(FieldList& fields, bool has_salt, Random& random) {
  if (has_salt && one_in(random, 2) && fields.back().second == msg::str("")) fields.pop_back();
  for (std::size_t i = fields.size(); i > 1; --i)
    std::swap(fields[i - 1], fields[below(random, i)]);
  if (!fields.empty() && one_in(random, 2)) {
    const msg::Pair& last = fields[below(random, fields.size())];
    const std::string name = decode<std::string>(last.first).value();
    fields.insert(fields.begin(), {last.first, other_value_of(name)});
  }
  for (std::uint64_t i = below(random, 3); i > 0; --i)
    fields.insert(fields.begin() + static_cast<std::ptrdiff_t>(below(random, fields.size() + 1)),
                  {msg::str("unknown-" + std::to_string(i)), anything(random)});
}

bool map_forms(const Definition& definition, Frames& frames, Random& random) {
  bool changed = false;
  for (std::size_t i = 0; i < definition.payloads.size(); ++i) {
    std::optional<MapFields> fields = map_fields(definition.payloads[i], frames[i + 2]);
    if (!fields) continue;
    for (FieldList& list : fields->maps)
      change_form(list, definition.payloads[i] == WireType::kKey, random);
    frames[i + 2] = compose(*fields);
    changed = true;
  }
  return changed;
}

bool strange_uid(Frames& frames, Random& random) {
  Bytes uid = one_in(random, 8) ? Bytes(5000, 0xc1) : random_bytes(random, 40);
  for (std::size_t i = 0; i < kUidBytesMin; ++i) uid.push_back(static_cast<std::uint8_t>(random()));
  frames[0] = std::move(uid);
  return true;
}

Bytes nobodys_number(const Registry& registry, Random& random) {
  while (true) {
    const Int number = one_in(random, 2) ? Int(below(random, 300)) : legal_int(random);
    if (registry.find_number(number) != nullptr) continue;
    if (number.is_negative()) return encoded(number);
    return any_of(msg::every_width(number.bits()), random);
  }
}

Bytes type_of_another_kind(const Definition& definition, Random& random) {
  return any_of(
      {msg::str(to_string(definition.type)), msg::nil(), msg::boolean(true),
       msg::f64(definition.number), msg::f32(static_cast<float>(definition.number)),
       msg::array({msg::integer(definition.number)}), msg::map({}),
       msg::bin(Bytes{static_cast<std::uint8_t>(definition.number)}), msg::ext(1, as_bytes("x"))},
      random);
}

Bytes malformed_type(const Bytes& type, Random& random) {
  Bytes cut = msg::u32(14);
  cut.resize(1 + below(random, 4));
  return any_of({msg::never_used(),
                 {},
                 cut,
                 msg::followed_by(type, msg::integer(0)),
                 msg::followed_by(type, {0xc1})},
                random);
}

bool flip_bits(Frames& frames, Random& random) {
  for (std::uint64_t i = 1 + below(random, 4); i > 0; --i) {
    Bytes& frame = frames[1 + below(random, frames.size() - 1)];
    if (!frame.empty())
      frame[below(random, frame.size())] ^= static_cast<std::uint8_t>(1U << below(random, 8));
  }
  return true;
}

bool noise(Frames& frames, Random& random) {
  frames.resize(1 + below(random, 7));
  for (Bytes& frame : frames) frame = random_bytes(random, one_in(random, 20) ? 20000 : 30);
  strange_uid(frames, random);
  return true;
}

bool replace_payload(const Definition& definition, Frames& frames, Random& random,
                     Bytes (*bad)(WireType, ByteView, Random&)) {
  if (definition.payloads.empty()) return false;
  const std::size_t index = below(random, definition.payloads.size());
  Bytes payload = bad(definition.payloads[index], frames[index + 2], random);
  if (payload == frames[index + 2]) return false;  // there is no such payload
  frames[index + 2] = std::move(payload);
  return true;
}

}  // namespace

std::string_view to_string(Mutation mutation) {
  constexpr std::array<std::string_view, kNumMutations> kNames = {
      "plain",       "longer",         "map-forms",       "uid",
      "type-width",  "other-value",    "few-frames",      "type-number",
      "type-kind",   "type-malformed", "payload-missing", "payload-extra",
      "many-frames", "other-kind",     "field",           "behind",
      "cut",         "empty",          "never-used",      "lying-length",
      "deep",        "huge",           "bad-text",        "bad-value",
      "bad-pickle",  "other-type",     "swapped",         "bits",
      "noise",       "canary"};
  return kNames.at(static_cast<std::size_t>(mutation));
}

Legality legality_of(Mutation mutation) {
  if (mutation <= Mutation::kOtherValue) return Legality::kLegal;
  if (mutation <= Mutation::kBadPickle || mutation == Mutation::kCanary) return Legality::kIllegal;
  return Legality::kEither;
}

bool keeps_meaning(Mutation mutation) { return mutation <= Mutation::kTypeWidth; }

bool mutate(Mutation mutation, const Registry& registry, Frames& frames, Random& random) {
  const Result<const Definition*> found = decode_type_frame(registry, frames.at(1));
  KVC_ASSERT(found.ok());
  const Definition& definition = **found;
  const std::size_t num_payloads = definition.payloads.size();
  switch (mutation) {
    case Mutation::kPlain:
      return true;
    case Mutation::kLonger:
      return longer(frames, random);
    case Mutation::kMapForms:
      return map_forms(definition, frames, random);
    case Mutation::kUid:
      return strange_uid(frames, random);
    case Mutation::kTypeWidth:
      frames[1] = any_of(msg::every_width(static_cast<std::uint64_t>(definition.number)), random);
      return true;
    case Mutation::kOtherValue: {
      if (num_payloads == 0) return false;
      const std::size_t index = below(random, num_payloads);
      frames[index + 2] = legal_frame(definition.payloads[index], random);
      return true;
    }
    case Mutation::kFewFrames:
      frames.resize(1);
      if (one_in(random, 2)) frames[0].clear();
      return true;
    case Mutation::kTypeNumber:
      frames[1] = nobodys_number(registry, random);
      return true;
    case Mutation::kTypeKind:
      frames[1] = type_of_another_kind(definition, random);
      return true;
    case Mutation::kTypeMalformed:
      frames[1] = malformed_type(frames[1], random);
      return true;
    case Mutation::kPayloadMissing:
      if (num_payloads == 0) return false;
      frames.erase(frames.begin() + 2 + static_cast<std::ptrdiff_t>(below(random, num_payloads)));
      return true;
    case Mutation::kPayloadExtra:
      frames.insert(
          frames.begin() + 2 + static_cast<std::ptrdiff_t>(below(random, num_payloads + 1)),
          any_of({{}, msg::nil(), msg::integer(1), frames.back()}, random));
      return true;
    case Mutation::kManyFrames:
      frames.insert(frames.end(), 50 + below(random, 1000), msg::integer(1));
      return true;
    case Mutation::kOtherKind:
      return replace_payload(definition, frames, random, payload_of_another_kind);
    case Mutation::kField:
      return replace_payload(definition, frames, random, payload_with_a_bad_part);
    case Mutation::kBehind:
      return replace_payload(definition, frames, random, payload_with_bytes_behind);
    case Mutation::kCut:
      return replace_payload(definition, frames, random, cut_payload);
    case Mutation::kEmpty:
      return replace_payload(definition, frames, random, empty_payload);
    case Mutation::kNeverUsed:
      return replace_payload(definition, frames, random, payload_never_used);
    case Mutation::kLyingLength:
      return replace_payload(definition, frames, random, lying_payload);
    case Mutation::kDeep:
      return replace_payload(definition, frames, random, deep_payload);
    case Mutation::kHuge:
      return replace_payload(definition, frames, random, huge_payload);
    case Mutation::kBadText:
      return replace_payload(definition, frames, random, payload_of_bad_text);
    case Mutation::kBadValue:
      return replace_payload(definition, frames, random, payload_of_bad_value);
    case Mutation::kBadPickle:
      return replace_payload(definition, frames, random, payload_of_bad_pickle);
    case Mutation::kOtherType: {
      const auto rows = registry.definitions();
      frames[1] = msg::integer(rows[below(random, rows.size())].number);
      return true;
    }
    case Mutation::kSwapped:
      if (num_payloads < 2) return false;
      std::swap(frames[2 + below(random, num_payloads)], frames[2 + below(random, num_payloads)]);
      return true;
    case Mutation::kBits:
      return flip_bits(frames, random);
    case Mutation::kNoise:
      return noise(frames, random);
    case Mutation::kCanary:
      return false;
  }
  return false;
}

void make_canary(Frames& frames, const Registry& registry, const std::string& path) {
  const Bytes pickle = pkl::document(pkl::call(pkl::global("os", "mkdir"), {pkl::str(path)}));
  frames.resize(1);
  frames.push_back(encode_type_frame(registry, RequestType::kRegisterKvCache));
  frames.push_back(msg::integer(1));
  frames.push_back(msg::array({msg::ext(1, pickle)}));
  frames.push_back(msg::str("canary"));
  frames.push_back(msg::integer(1));
  frames.push_back(msg::str("vllm"));
  frames.push_back(msg::map({}));
}

}  // namespace kvc::conformance
