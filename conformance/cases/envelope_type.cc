// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Envelope: a type frame that names no request, and a message without one. It gets no reply, and
// takes service from nobody. The real 0.4.5 dies of each kind, so all of a kind are in one case.
#include "conformance/cases/lists.h"
#include "conformance/cases/refusals.h"
#include "conformance/cases/stage.h"

namespace kvc::conformance {
namespace {

void expect_ignored(Case& test, const std::vector<Frames>& messages, const std::string& what) {
  Client bystander = test.client();
  bystander.call<std::string>(RequestType::kNoop);
  Client client = test.client();
  for (const Frames& message : messages) client.send_frames(message);
  client.expect_nothing(what);
  bystander.call<std::string>(RequestType::kNoop);
  test.expect_alive(what);
}

std::vector<Frames> as_type(const std::vector<Bytes>& type_frames) {
  std::vector<Frames> out;
  for (const Bytes& frame : type_frames) {
    out.push_back({msg::integer(1), frame});
    out.push_back({msg::integer(2), frame, msg::integer(0)});
  }
  return out;
}

}  // namespace

void add_envelope_type_cases(CaseList& list, const Registry& registry) {
  const auto last = static_cast<std::int64_t>(registry.definitions().size());
  const auto add = [&](const std::string& id, std::vector<std::string> proves,
                       const std::string& claim, const std::vector<Frames>& messages,
                       const std::string& what) {
    list.add({.id = "Envelope." + id,
              .proves = std::move(proves),
              .claim = claim,
              .needs = {},
              .body = [=](Case& test) { expect_ignored(test, messages, what); }});
  };
  add("IgnoresUnknownTypeNumbers",
      {"envelope.unknown-type", "registry.outside-is-nobody", "robustness.one-client-stops-nobody"},
      "A type frame with a number that the release does not have gets no reply and stops nobody.",
      as_type({msg::integer(0), msg::integer(last + 1), msg::integer(27), msg::integer(32),
               msg::integer(36), msg::integer(40), msg::integer(99), msg::integer(255),
               msg::integer(256 + 14), msg::unsigned_integer((std::uint64_t{1} << 32) + 14),
               msg::unsigned_integer(~std::uint64_t{0}), msg::integer(-1), msg::integer(-14)}),
      "requests of unknown types");
  add("IgnoresTypesOfAnotherKind", {"envelope.unknown-type", "robustness.one-client-stops-nobody"},
      "A type frame that is no int (14.0, \"NOOP\", nil, …) gets no reply and stops nobody.",
      as_type({msg::f64(14.0), msg::f32(14.0F), msg::str("NOOP"), msg::str("14"), msg::bin("\x0e"),
               msg::nil(), msg::boolean(true), msg::array({msg::integer(14)}),
               msg::map({{msg::integer(14), msg::integer(14)}}), msg::ext(1, as_bytes("\x0e")),
               msg::nested_arrays(10000)}),
      "requests whose type is no int");
  add("IgnoresMalformedTypes", {"envelope.unknown-type", "robustness.one-client-stops-nobody"},
      "A type frame that is no whole msgpack document gets no reply and stops nobody.",
      as_type({msg::never_used(), Bytes{}, msg::raw({0xcd, 0x00}), msg::raw({0x0e, 0x00}),
               msg::raw({0x0e, 0x0e}), msg::raw({0xcf, 0, 0, 0, 0, 0, 0, 0}),
               msg::array32_header(0xffffffff), Bytes(std::size_t{1} << 20, 0x0e)}),
      "requests whose type is no document");
  add("IgnoresTooFewFrames", {"envelope.too-few-frames", "robustness.one-client-stops-nobody"},
      "A message of one frame gets no reply and stops nobody.",
      {{msg::integer(1)}, {Bytes{}}, {msg::integer(14)}, {msg::never_used()}},
      "messages of one frame");
}

}  // namespace kvc::conformance
