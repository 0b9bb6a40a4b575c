// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/doctor/target_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/doctor/listener.h"
#include "conformance/doctor/no_answer.h"
#include "conformance/harness/capabilities.h"
#include "conformance/harness/case.h"
#include "conformance/harness/client.h"
#include "kvc/protocol/codec.h"

namespace kvc::conformance {
namespace {

using Clock = std::chrono::steady_clock;

bool check_noop(RunContext& context, CheckList& list) {
  Client client(context);
  const Clock::time_point start = Clock::now();
  client.send(RequestType::kNoop, {});
  const std::optional<Reply> reply = client.receive(context.settings().timeout);
  if (!reply) {
    list.wrong("NOOP is not answered", why_no_answer(context, context.endpoint()));
    return false;
  }
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  if (!reply->has_result() || reply->frames[2] != encoded(std::string("OK"))) {
    list.wrong("NOOP is answered, and not with OK",
               "another release, or not a server of this protocol: kvconform run says more");
    return false;
  }
  list.fine(fmt::format("NOOP is answered as release {} has it, connected in {:.1f} ms",
                        context.registry().release(), ms));
  return true;
}

void check_chunks(RunContext& context, CheckList& list) {
  Client client(context);
  const Sent sent = client.send(RequestType::kGetChunkSize, {});
  const std::optional<Reply> reply = client.receive(context.settings().timeout);
  const auto tokens =
      reply && reply->has_result() ? decode<Int>(reply->frames[2]) : Result<Int>(Error{});
  if (!tokens || !tokens->as_u64() || *tokens->as_u64() == 0)
    return list.wrong("GET_CHUNK_SIZE is not answered with a number",
                      "cases that store cannot be run");
  list.fine(fmt::format("chunks of {} tokens", tokens->to_string()));
}

void check_buffers(const Capabilities& capabilities, bool tried, bool local, CheckList& list) {
  if (!tried) return;
  if (capabilities.has(Capability::kHostDevice))
    return list.fine("it opens buffers in this machine's shared memory (host-device)");
  list.absent("it does not open buffers in this machine's shared memory (host-device)",
              local ? "cases that move data are skipped; a server in a container needs --ipc=host, "
                      "another user the right to open /dev/shm; a server with CUDA only is judged "
                      "with --device cuda"
                    : "cases that move data are skipped: it is on another machine, and shared "
                      "memory is not; run kvconform there");
}

void check_blend(const Capabilities& capabilities, CheckList& list) {
  const bool v1 = capabilities.answer(RequestType::kCbLookupPreComputed) == Answer::kAnswers;
  const bool v2 = capabilities.answer(RequestType::kCbLookupPreComputedV2) == Answer::kAnswers;
  if (v1 || v2)
    return list.fine(fmt::format("it answers blend requests: {}{}{}", v1 ? "V1" : "",
                                 v1 && v2 ? ", " : "", v2 ? "V2" : ""));
  list.absent("it answers no blend lookups", "cases of blend are skipped");
}

void check_silent(const Capabilities& capabilities, const Registry& registry, CheckList& list) {
  std::string silent;
  for (const Definition& definition : registry.definitions()) {
    if (definition.group.starts_with("blend")) continue;
    if (capabilities.answer(definition.type) == Answer::kSilent)
      silent += (silent.empty() ? "" : ", ") + std::string(to_string(definition.type));
  }
  if (!silent.empty())
    list.wrong("harmless requests that it leaves unanswered: " + silent,
               "kvconform run says which rules that breaks");
}

}  // namespace

CheckList check_target(RunContext& context, bool quick) {
  CheckList list{context.endpoint(), {}};
  const Listener listener = look_at(context.endpoint(), std::chrono::milliseconds(1500));
  if (!listener.is_router()) {
    list.wrong(why_no_answer(context, context.endpoint()), "");
    return list;
  }
  list.fine(
      fmt::format("a ZeroMQ ROUTER listens, on {} machine", listener.local ? "this" : "another"));
  if (!check_noop(context, list) || quick) return list;
  check_chunks(context, list);
  const bool tried = context.device_or_null() != nullptr;
  const Capabilities capabilities = probe_capabilities(context);
  check_buffers(capabilities, tried, listener.local, list);
  check_blend(capabilities, list);
  check_silent(capabilities, context.registry(), list);
  return list;
}

}  // namespace kvc::conformance
