// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/doctor/no_answer.h"

#include <fmt/format.h>

#include "conformance/doctor/listener.h"
#include "conformance/harness/client.h"
#include "conformance/harness/release.h"
#include "kvc/protocol/codec.h"

namespace kvc::conformance {
namespace {

constexpr std::chrono::milliseconds kLook{1500};
constexpr std::chrono::milliseconds kAsk{300};

bool answers_noop_by(RunContext& context, const Bytes& type) {
  Client client(context);
  client.send_frames({encoded(Int(1)), type});
  const std::optional<Reply> reply = client.receive(kAsk);
  return reply && reply->frames.size() == 3 && reply->frames[2] == encoded(std::string("OK"));
}

}  // namespace

std::optional<std::string> release_that_answers(RunContext& context) {
  for (const std::string_view name : known_releases()) {
    if (name == context.registry().release()) continue;
    const int number = find_registry(name)->find(RequestType::kNoop)->number;
    if (answers_noop_by(context, encoded(Int(number)))) return std::string(name);
  }
  if (answers_noop_by(context, encoded(Int(kNoopOf0_4_6)))) return "0.4.6";
  return std::nullopt;
}

std::string why_no_answer(RunContext& context, const std::string& endpoint) {
  using Kind = Listener::Kind;
  const Listener listener = look_at(endpoint, kLook);
  std::string words = in_words(listener, endpoint);
  switch (listener.kind) {
    case Kind::kNobody:
      return words + ": is the server up, and is this its port?";
    case Kind::kUnreachable:
      return words + ": another machine that is down, a firewall, or a container without -p?";
    case Kind::kSilent:
    case Kind::kOther:
      return words + ": another port of the server (HTTP, metrics), or another program?";
    case Kind::kBadEndpoint:
    case Kind::kUnknownHost:
      return words;
    case Kind::kZmq:
      break;
  }
  if (!listener.is_router())
    return words + ": the server's is a ROUTER; another port of the engine?";
  if (const auto release = release_that_answers(context)) {
    const bool known = find_registry(*release) != nullptr;
    return fmt::format(
        "the server answers NOOP as release {} numbers it, and not {}: {}", *release,
        context.registry().release(),
        known ? "say --release " + *release : "kvconform does not know that release");
  }
  return words + fmt::format(
                     ", but does not answer NOOP of release {}: dead since an earlier "
                     "message, overloaded, or of another release",
                     context.registry().release());
}

}  // namespace kvc::conformance
