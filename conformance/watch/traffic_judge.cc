// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/watch/traffic_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conformance/harness/message_text.h"
#include "conformance/watch/release_hint.h"
#include "kvc/protocol/codec.h"
#include "kvc/protocol/envelope.h"

namespace kvc::conformance {
namespace {

constexpr std::size_t kWordsMax = 200;
constexpr std::size_t kHexBytesMax = 32;
constexpr std::size_t kSuspectsMax = 64;
constexpr double kStillAnsweredMs = 100;

Frames owned(std::span<const ByteView> frames) {
  Frames out;
  out.reserve(frames.size());
  for (const ByteView frame : frames) out.push_back(to_bytes(frame));
  return out;
}

std::string cut(std::string words) {
  if (words.size() <= kWordsMax) return words;
  std::size_t end = kWordsMax;
  while (end > 0 && (static_cast<unsigned char>(words[end]) & 0xC0) == 0x80) --end;
  return words.substr(0, end) + "…";
}

std::string uid_of(const SeenMessage& message) { return std::string(as_text(message.frames[0])); }

// Requests of these types are always answered when they are well formed; the others may be refused
// by what they say, and a refusal of one whose result is None is silence.
bool always_answered(RequestType type) {
  switch (type) {
    case RequestType::kNoop:
    case RequestType::kPing:
    case RequestType::kGetChunkSize:
    case RequestType::kClear:
    case RequestType::kEndSession:
    case RequestType::kQueryPrefetchStatus:
    case RequestType::kQueryPrefetchLookupHits:
      return true;
    default:
      return false;
  }
}

// The rule that a result of the wrong shape breaks.
std::string rule_of_result(const Definition& definition, std::size_t num_frames) {
  if (definition.result == WireType::kNone) return "envelope.none-has-no-frame";
  return num_frames != 3 ? "envelope.result-frame" : "registry.result-types";
}

}  // namespace

std::string_view to_string(Side side) { return side == Side::kClient ? "client" : "server"; }

TrafficJudge::TrafficJudge(const Registry& registry, double overdue_ms, Tell tell)
    : registry_(registry), overdue_ms_(overdue_ms), tell_(std::move(tell)) {}

void TrafficJudge::count(const TrafficFault& fault) {
  if (!fault.note) ++(fault.side == Side::kClient ? client_faults_ : server_faults_);
  tell_(fault);
}

TrafficFault TrafficJudge::fault_of(const SeenMessage& message, Side side, const std::string& rule,
                                    const std::string& what, bool note) const {
  const Frames frames = owned(message.frames);
  return {message.t_ms,
          message.client,
          side,
          note,
          rule,
          what,
          cut(message.sent ? describe_request(registry_, frames)
                           : describe_response(registry_, frames)),
          frames_hex(frames, kHexBytesMax)};
}

void TrafficJudge::tell(const SeenMessage& message, Side side, const std::string& rule,
                        const std::string& what, bool note) {
  count(fault_of(message, side, rule, what, note));
}

void TrafficJudge::see(const SeenMessage& message) {
  ++num_messages_;
  ClientState& client = clients_[message.client];
  if (message.sent) {
    see_request(message, client);
  } else {
    last_reply_ms_ = message.t_ms;
    told_dead_ = false;
    see_reply(message, client);
  }
}

void TrafficJudge::refuse(const SeenMessage& message, ClientState& client, const std::string& rule,
                          const std::string& what) {
  ++num_illegal_;
  const std::string hint = client.told_release ? "" : release_hint(registry_, message.frames);
  const bool poison = rule == "envelope.too-few-frames" || rule == "envelope.unknown-type";
  suspects_.push_back({fault_of(message, Side::kClient, rule, what), poison});
  count(suspects_.back().fault);
  if (suspects_.size() > kSuspectsMax) suspects_.pop_front();
  if (!hint.empty()) {
    client.told_release = true;
    tell(message, Side::kClient, "registry.renumbering",
         fmt::format("this is {}: client {} does not speak {}", hint, message.client,
                     registry_.release()));
  }
  if (message.frames.size() < 2) return;  // no uid to be answered by
  Pending pending;
  pending.type_frame = to_bytes(message.frames[1]);
  pending.t_ms = message.t_ms;
  pending.request = suspects_.back().fault.message;
  client.pending[uid_of(message)].push_back(std::move(pending));
}

void TrafficJudge::see_request(const SeenMessage& message, ClientState& client) {
  if (message.frames.size() < 2)
    return refuse(message, client, "envelope.too-few-frames",
                  "a message of one frame is no request, and ends the thread of a real 0.4.5");
  const Result<const Definition*> found = decode_type_frame(registry_, message.frames[1]);
  if (!found)
    return refuse(message, client, "envelope.unknown-type",
                  fmt::format("no request type of {} ({}); it ends the thread of a real 0.4.5",
                              registry_.release(), found.error().text()));
  const Definition& definition = **found;
  TrafficRow& row = rows_[definition.type];
  ++row.requests;
  const std::span<const ByteView> payloads = message.frames.subspan(2);
  const Result<std::vector<Value>> values = decode_payloads(definition, payloads);
  if (!values) {
    ++row.illegal;
    const bool arity = payloads.size() != definition.payloads.size();
    return refuse(message, client, arity ? "envelope.payload-count" : "typing.refusal-is-silent",
                  fmt::format("{}: {}", to_string(definition.type), values.error().text()));
  }
  ++row.pending;
  Pending pending;
  pending.definition = &definition;
  pending.type_frame = to_bytes(message.frames[1]);
  pending.t_ms = message.t_ms;
  if (definition.handler == HandlerType::kSync) pending.sync_number = ++client.num_sync;
  watch_locks(*values, message, pending);
  client.pending[uid_of(message)].push_back(std::move(pending));
}

void TrafficJudge::see_reply(const SeenMessage& message, ClientState& client) {
  if (message.frames.size() < 2)
    return tell(message, Side::kServer, "envelope.result-frame", "a reply has two or three frames");
  const auto found = client.pending.find(uid_of(message));
  if (found == client.pending.end())
    return tell(message, Side::kServer, "envelope.one-reply",
                "no request of this client waits for a reply with this uid: it was answered "
                "before, or the uid is not the request's byte for byte, or it is another client's");
  std::deque<Pending>& waiting = found->second;
  // Requests with one uid: the first of this type, else the first.
  auto at = std::find_if(waiting.begin(), waiting.end(), [&](const Pending& pending) {
    return std::ranges::equal(pending.type_frame, message.frames[1]);
  });
  if (at == waiting.end()) {
    at = waiting.begin();
    tell(message, Side::kServer, "envelope.echo-type",
         fmt::format("the type frame is not the request's, {}", to_hex(at->type_frame)));
  }
  Pending pending = std::move(*at);
  waiting.erase(at);
  if (waiting.empty()) client.pending.erase(found);
  if (pending.definition == nullptr)
    return tell(message, Side::kServer, "typing.refusal-is-silent",
                "a request that must not be answered was: " + pending.request);
  TrafficRow& row = rows_[pending.definition->type];
  ++row.replies;
  --row.pending;
  row.latency.add((message.t_ms - pending.t_ms) * 1000);
  judge_order(message, client, pending);
  judge_result(message, pending);
}

void TrafficJudge::judge_order(const SeenMessage& message, ClientState& client,
                               const Pending& pending) {
  if (pending.sync_number == 0) return;
  if (pending.sync_number < client.last_sync_answered)
    tell(message, Side::kServer, "handlers.sync-order",
         "a SYNC request that was sent later has been answered before this one");
  client.last_sync_answered = std::max(client.last_sync_answered, pending.sync_number);
}

void TrafficJudge::judge_result(const SeenMessage& message, Pending& pending) {
  const Definition& definition = *pending.definition;
  const std::span<const ByteView> result = message.frames.subspan(2);
  const bool nil_for_none = definition.result == WireType::kNone && !result.empty();
  const Result<Value> value = decode_result(definition, result);
  if (nil_for_none || result.size() > 1 || !value) {
    const std::string why =
        value ? fmt::format("{} frames", message.frames.size()) : value.error().text();
    return tell(message, Side::kServer, rule_of_result(definition, message.frames.size()),
                fmt::format("{} answers {}: {}", to_string(definition.type),
                            to_string(definition.result), why));
  }
  if (definition.type == RequestType::kGetChunkSize && !locks_.knows_chunk_size()) {
    if (const auto tokens = std::get<Int>(*value).as_u64()) locks_.set_chunk_size(*tokens);
  }
  if (pending.answered) pending.answered(*value);
}

void TrafficJudge::watch_locks(const std::vector<Value>& payloads, const SeenMessage& message,
                               Pending& pending) {
  // A Key sees the frame that it was decoded from, which is gone by the time of the answer; locks
  // need its tokens no more.
  const auto key_of = [&] {
    Key key = std::get<Key>(payloads[0]);
    key.token_ids = IntArray{};
    return key;
  };
  switch (pending.definition->type) {
    case RequestType::kLookup:
      locks_.looked_up(key_of(), std::get<Int>(payloads[1]));
      break;
    case RequestType::kQueryPrefetchStatus:
    case RequestType::kQueryPrefetchLookupHits:
      pending.answered = [this, id = std::get<std::string>(payloads[0])](const Value& value) {
        const auto& count = std::get<OptionalInt>(value);
        if (count) locks_.hit(id, *count);
      };
      break;
    case RequestType::kRetrieve:
      pending.answered = [this, key = key_of()](const Value& value) {
        if (std::get<TransferResult>(value).ok) locks_.retrieved(key);
      };
      break;
    case RequestType::kFreeLookupLocks:
      pending.answered = [this, key = key_of(), ranks = std::get<Int>(payloads[1])](const Value&) {
        locks_.freed(key, ranks);
      };
      break;
    case RequestType::kEndSession:
      if (const auto held = locks_.ended(std::get<std::string>(payloads[0])))
        tell(message, Side::kClient, "session.end-keeps-locks",
             fmt::format("request {} ends with locks on {} of the {} chunks that LOOKUP hit: "
                         "neither retrieved nor freed, they stay until their time to live",
                         held->request_id, held->num_chunks, held->of_chunks));
      break;
    case RequestType::kClear:
      pending.answered = [this](const Value&) { locks_.cleared(); };
      break;
    default:
      break;
  }
}

void TrafficJudge::tell_overdue(int client, RequestType type, const Overdue& overdue,
                                double now_ms) {
  const bool fault = always_answered(type);
  const std::string more =
      overdue.count > 1 ? fmt::format(" (and {} more of this client)", overdue.count - 1) : "";
  count({now_ms, client, Side::kServer, !fault, "envelope.one-reply",
         fmt::format("{} uid={} of {:.0f} ms{} is not answered after {:.0f} ms{}", to_string(type),
                     msgpack_in_words(as_bytes(overdue.uid)), overdue.oldest_ms, more,
                     now_ms - overdue.oldest_ms,
                     fault ? "" : ": lost, slow, or refused (a refusal is silent)"),
         "", ""});
}

void TrafficJudge::tell_dead(double now_ms, double oldest_ms) {
  told_dead_ = true;
  TrafficFault fault{now_ms,
                     0,
                     Side::kServer,
                     false,
                     "robustness.one-client-stops-nobody",
                     fmt::format("nobody has been answered since {:.0f} ms: the server is dead or "
                                 "hangs",
                                 last_reply_ms_),
                     "",
                     ""};
  // Answers to what was asked before it may still have come after it.
  const auto may_be = [&](const Suspect& suspect) {
    return suspect.fault.t_ms >= last_reply_ms_ - kStillAnsweredMs &&
           suspect.fault.t_ms <= oldest_ms;
  };
  auto found = std::find_if(suspects_.begin(), suspects_.end(), [&](const Suspect& suspect) {
    return suspect.poison && may_be(suspect);
  });
  if (found == suspects_.end()) found = std::find_if(suspects_.begin(), suspects_.end(), may_be);
  if (found != suspects_.end()) {
    const TrafficFault& cause = found->fault;
    fault.client = cause.client;
    fault.what += fmt::format("; the first message since then that {} is client {}'s at {:.0f} ms",
                              found->poison ? "ends a real 0.4.5" : "it had to drop", cause.client,
                              cause.t_ms);
    fault.message = cause.message;
    fault.frames = cause.frames;
  }
  count(fault);
}

// What is never answered must not be remembered for ever.
void TrafficJudge::forget_old(ClientState& client, double now_ms) {
  for (auto at = client.pending.begin(); at != client.pending.end();) {
    std::erase_if(at->second, [&](const Pending& pending) {
      const double age_ms = now_ms - pending.t_ms;
      return age_ms > (pending.definition == nullptr ? 4 : 100) * overdue_ms_;
    });
    at = at->second.empty() ? client.pending.erase(at) : std::next(at);
  }
}

void TrafficJudge::look_at_clock(double now_ms) {
  double oldest_ms = now_ms;
  bool surely_due = false;
  for (auto& [number, client] : clients_) {
    std::map<RequestType, Overdue> overdue;
    for (auto& [uid, waiting] : client.pending) {
      for (Pending& pending : waiting) {
        if (pending.definition == nullptr || now_ms - pending.t_ms < overdue_ms_) continue;
        if (always_answered(pending.definition->type) && pending.t_ms >= last_reply_ms_) {
          surely_due = true;
          oldest_ms = std::min(oldest_ms, pending.t_ms);
        }
        if (std::exchange(pending.told_overdue, true)) continue;
        ++rows_[pending.definition->type].overdue;
        Overdue& those = overdue[pending.definition->type];
        if (those.count++ == 0 || pending.t_ms < those.oldest_ms) {
          those.oldest_ms = pending.t_ms;
          those.uid = uid;
        }
      }
    }
    for (const auto& [type, those] : overdue) tell_overdue(number, type, those, now_ms);
  }
  if (surely_due && !told_dead_) tell_dead(now_ms, oldest_ms);
  for (auto& [number, client] : clients_) forget_old(client, now_ms);
}

void TrafficJudge::end(double now_ms) {
  look_at_clock(now_ms);
  for (const HeldLocks& held : locks_.held())
    count({now_ms, 0, Side::kClient, true, "locks.expire",
           fmt::format("request {} still has locks on {} of the {} chunks that LOOKUP hit",
                       held.request_id, held.num_chunks, held.of_chunks),
           "", ""});
}

}  // namespace kvc::conformance
