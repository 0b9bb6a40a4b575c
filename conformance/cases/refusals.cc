// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/cases/refusals.h"

#include "conformance/harness/message_text.h"
#include "conformance/harness/run_context.h"

namespace kvc::conformance {

void expect_only_honest_answered(Client& client, RequestType type, const Frames& honest,
                                 const std::vector<Frames>& others, const std::string& what) {
  const Sent before = client.send(type, honest);
  std::vector<Sent> refused;
  for (const Frames& frames : others) refused.push_back(client.send(type, frames));
  const Sent after = client.send(type, honest);
  client.reply_to(before);
  client.reply_to(after);
  // No grace behind it: the honest one has passed wherever the others could have been answered, and
  // a reply that left before NOOP's has come before it.
  client.call<std::string>(RequestType::kNoop);
  for (std::size_t i = 0; i < refused.size(); ++i) {
    if (!unclaimed_reply(client, refused[i])) continue;
    // The client's own check says it in its own words.
    client.expect_silence(refused[i], what);
  }
}

std::optional<Reply> unclaimed_reply(const Client& client, const Sent& sent) {
  for (const Reply& reply : client.unclaimed())
    if (!reply.frames.empty() && reply.frames.front() == sent.uid) return reply;
  return std::nullopt;
}

void expect_no_success(Case& test, Client& client, const std::vector<Sent>& requests,
                       const std::string& what) {
  client.fence();
  for (const Sent& sent : requests) {
    const std::optional<Reply> reply = unclaimed_reply(client, sent);
    if (!reply || !reply->has_result()) continue;
    const Result<TransferResult> answer = decode<TransferResult>(reply->frames[2]);
    if (answer && answer->ok)
      test.wrong("no reply to " + what + ", or (b\"\", False)",
                 describe_response(test.registry(), reply->frames));
  }
}

std::string words(ByteView frame) { return msgpack_in_words(to_bytes(frame)); }

}  // namespace kvc::conformance
