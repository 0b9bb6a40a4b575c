// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of the registry: numbers, rows and results of the request types.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "mutants/call.h"
#include "mutants/flaw.h"
#include "mutants/frames.h"

namespace kvc::mutants {
namespace {

using server::Frame;

// Requests are served under another number, and answered under their own.
Changes renumbered(std::function<std::optional<int>(Int)> number_of) {
  struct State {
    std::mutex mutex;
    std::map<const void*, Frame> own_type;  // by the uid's bytes, which live until the reply
  };
  const auto state = std::make_shared<State>();
  Changes changes;
  changes.message = [state, number_of = std::move(number_of)](
                        Message message, const std::function<void(Message)>& next) {
    const std::optional<Int> number =
        message.size() > kTypeFrame ? int_in(message[kTypeFrame]) : std::nullopt;
    const std::optional<int> other = number ? number_of(*number) : std::nullopt;
    if (!other) return next(std::move(message));
    // A uid of its own bytes: libzmq may share those of short frames.
    message[kUidFrame] = Frame(to_bytes(message[kUidFrame].view()));
    {
      const std::lock_guard lock(state->mutex);
      state->own_type[message[kUidFrame].view().data()] = message[kTypeFrame];
    }
    message[kTypeFrame] = frame_of_number(*other);
    next(std::move(message));
  };
  changes.reply = [state](Reply reply, bool, const std::function<void(Reply)>& next) {
    {
      const std::lock_guard lock(state->mutex);
      const auto own = state->own_type.find(reply.uid.view().data());
      if (own != state->own_type.end()) {
        reply.type = own->second;
        state->own_type.erase(own);
      }
    }
    next(std::move(reply));
  };
  return changes;
}

Changes swapped(RequestType a, RequestType b) {
  const int x = registry_0_4_5().find(a)->number;
  const int y = registry_0_4_5().find(b)->number;
  return renumbered([x, y](Int number) -> std::optional<int> {
    if (number == Int(x)) return y;
    if (number == Int(y)) return x;
    return std::nullopt;
  });
}

// As if a member had been inserted behind RETRIEVE: LOOKUP to END_SESSION move up.
std::optional<int> one_less_behind_retrieve(Int number) {
  constexpr int kRetrieve = 4;
  constexpr int kEndSession = 9;
  if (number <= Int(kRetrieve) || number > Int(kEndSession)) return std::nullopt;
  if (number == Int(kRetrieve + 1)) return kNumRequestTypes + 1;  // the member that nobody knows
  return static_cast<int>(number.bits()) - 1;
}

std::optional<int> low_byte(Int number) {
  if (number >= Int(0) && number <= Int(0xff)) return std::nullopt;
  return static_cast<int>(number.bits() & 0xff);
}

// As release 0.4.6 has it.
std::optional<int> noop_is_19_too(Int number) {
  if (number != Int(19)) return std::nullopt;
  return registry_0_4_5().find(RequestType::kNoop)->number;
}

// As release 0.4.4 has it.
Changes register_without_hints() {
  return {.message = [](Message message, const std::function<void(Message)>& next) {
    const Definition* const definition = definition_of(message);
    if (definition != nullptr && definition->type == RequestType::kRegisterKvCache &&
        message.size() == kFirstPayloadFrame + 5)
      message.push_back(Frame(encoded(LayoutHints{})));
    next(std::move(message));
  }};
}

Changes answering(RequestType type, std::function<Outcome()> result) {
  return {.handlers = [type, result = std::move(result)](const Parts& parts) {
    around(parts.handlers, {type}, [result](Call& call) {
      const Outcome outcome = call.next();
      return outcome.reply ? result() : outcome;
    });
  }};
}

Outcome raw(Bytes result) { return {true, std::move(result), std::nullopt}; }

// Not the same at any time.
Changes growing_chunk_size() {
  return {.handlers = [](const Parts& parts) {
    const auto num_asked = std::make_shared<int>(0);
    around(parts.handlers, {RequestType::kGetChunkSize}, [num_asked](Call& call) {
      const Outcome outcome = call.next();
      const auto size = result_of<Int>(outcome);
      if (!size || ++*num_asked % 7 != 0) return outcome;
      return answer(Int(size->bits() * 2));
    });
  }};
}

Changes clear_of_nothing_is_silent() {
  return {.handlers = [](const Parts& parts) {
    around(parts.handlers, {RequestType::kClear}, [&engine = parts.engine](Call& call) {
      const bool empty = engine.objects().num_objects() == 0;
      const Outcome outcome = call.next();
      return empty ? silence() : outcome;
    });
  }};
}

Changes transfer_result_as_map() {
  return {.handlers = [](const Parts& parts) {
    around(parts.handlers, {RequestType::kStore}, [](Call& call) {
      const Outcome outcome = call.next();
      const auto result = result_of<TransferResult>(outcome);
      if (!result) return outcome;
      Bytes map{0x82, 0xa2, 'o', 'k', static_cast<std::uint8_t>(result->ok ? 0xc3 : 0xc2),
                0xa5, 'e',  'v', 'e', 'n',
                't'};
      encode(result->event_handle, map);
      return raw(std::move(map));
    });
  }};
}

}  // namespace

void add_registry_flaws(FlawList& list) {
  list.push_back({"noop-and-chunk-size-swapped",
                  "NOOP and GET_CHUNK_SIZE have each other's number.", "registry.numbers",
                  [] { return swapped(RequestType::kNoop, RequestType::kGetChunkSize); }});
  list.push_back({"status-and-hits-swapped",
                  "The two QUERY_PREFETCH requests have each other's number.", "query.hits", [] {
                    return swapped(RequestType::kQueryPrefetchStatus,
                                   RequestType::kQueryPrefetchLookupHits);
                  }});
  list.push_back({"store-and-retrieve-swapped", "STORE and RETRIEVE have each other's number.",
                  "registry.numbers",
                  [] { return swapped(RequestType::kStore, RequestType::kRetrieve); }});
  list.push_back({"numbers-off-by-one", "The numbers from LOOKUP to END_SESSION are one too large.",
                  "registry.numbers", [] { return renumbered(one_less_behind_retrieve); }});
  list.push_back({"number-modulo-256", "Looks at the low byte of a type's number only.",
                  "registry.outside-is-nobody", [] { return renumbered(low_byte); }});
  list.push_back({"noop-of-0.4.6", "Takes 19 for NOOP too, as release 0.4.6 does.",
                  "registry.renumbering", [] { return renumbered(noop_is_19_too); }});
  list.push_back({"register-of-0.4.4", "Takes a REGISTER_KV_CACHE without LayoutHints.",
                  "registry.renumbering", register_without_hints});
  list.push_back({"noop-in-lower-case", "NOOP answers \"ok\".", "controller.noop", [] {
                    return answering(RequestType::kNoop, [] { return answer(std::string("ok")); });
                  }});
  list.push_back({"noop-as-bytes", "NOOP answers bytes, not a str.", "controller.noop", [] {
                    return answering(RequestType::kNoop, [] { return answer(Bytes{'O', 'K'}); });
                  }});
  list.push_back({"ping-says-false", "PING answers False.", "controller.ping",
                  [] { return answering(RequestType::kPing, [] { return answer(false); }); }});
  list.push_back({"ping-says-one", "PING answers 1, not True.", "registry.result-types",
                  [] { return answering(RequestType::kPing, [] { return answer(Int(1)); }); }});
  list.push_back({"ping-without-result", "PING answers without a result.", "controller.ping",
                  [] { return answering(RequestType::kPing, answer_none); }});
  list.push_back(
      {"chunk-size-as-float", "GET_CHUNK_SIZE answers a float.", "registry.result-types", [] {
         return answering(RequestType::kGetChunkSize, [] {
           return raw({0xcb, 0x40, 0x40, 0, 0, 0, 0, 0, 0});
         });
       }});
  list.push_back({"chunk-size-changes", "Every seventh GET_CHUNK_SIZE answers twice the size.",
                  "controller.chunk-size", growing_chunk_size});
  list.push_back({"clear-of-nothing-silent", "Does not answer CLEAR when nothing is stored.",
                  "controller.clear", clear_of_nothing_is_silent});
  list.push_back({"transfer-result-as-map", "STORE answers a map in place of a tuple.",
                  "registry.result-types", transfer_result_as_map});
}

}  // namespace kvc::mutants
