// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws by which a server ends: it dies, or stays and answers nobody any more, of one message.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "mutants/flaw.h"
#include "mutants/frames.h"
#include "mutants/shadow.h"

namespace kvc::mutants {
namespace {

using Poison = std::function<bool(const Message&)>;

constexpr int kDeathExitCode = 3;

Changes dies_of(Poison poison) {
  return {.message = [poison = std::move(poison)](Message message,
                                                  const std::function<void(Message)>& next) {
    if (poison(message)) std::_Exit(kDeathExitCode);
    next(std::move(message));
  }};
}

// As 0.4.5 does: the loop's thread is gone, the process is not.
Changes hangs_of(Poison poison) {
  const auto hangs = std::make_shared<bool>(false);
  return {.message = [poison = std::move(poison), hangs](Message message,
                                                         const std::function<void(Message)>& next) {
    *hangs = *hangs || poison(message);
    if (!*hangs) next(std::move(message));
  }};
}

bool too_few_frames(const Message& message) { return message.size() <= kTypeFrame; }

bool unknown_number(const Message& message) {
  return message.size() > kTypeFrame && int_in(message[kTypeFrame]) &&
         definition_of(message) == nullptr;
}

bool type_of_another_kind(const Message& message) {
  return message.size() > kTypeFrame && !message[kTypeFrame].view().empty() &&
         decode<std::string>(message[kTypeFrame].view()).ok();
}

bool malformed_type(const Message& message) {
  return message.size() > kTypeFrame && !message[kTypeFrame].view().empty() &&
         message[kTypeFrame].view()[0] == 0xc1;
}

// Some payload fulfils it.
Poison payload(std::function<bool(ByteView frame, WireType type)> bad) {
  return [bad = std::move(bad)](const Message& message) {
    const Definition* const definition = definition_of(message);
    if (definition == nullptr) return false;
    for (std::size_t i = kFirstPayloadFrame; i < message.size(); ++i) {
      const std::size_t index = i - kFirstPayloadFrame;
      const WireType type =
          index < definition->payloads.size() ? definition->payloads[index] : WireType::kNone;
      if (bad(message[i].view(), type)) return true;
    }
    return false;
  };
}

bool wrong_count(const Message& message) {
  const Definition* const definition = definition_of(message);
  return definition != nullptr &&
         message.size() != kFirstPayloadFrame + definition->payloads.size();
}

bool does_not_decode(ByteView frame, WireType type) {
  return type != WireType::kNone && !decode_value(type, frame);
}

bool bad_tensors(ByteView frame, WireType type) {
  return type == WireType::kKVCache && frame.size() > 3 && !decode_value(type, frame);
}

bool deep(ByteView frame, WireType) {
  constexpr std::size_t kDeep = 1000;
  const auto shallow =
      std::find_if(frame.begin(), frame.end(), [](std::uint8_t byte) { return byte != 0x91; });
  return static_cast<std::size_t>(shallow - frame.begin()) > kDeep;
}

// Reserves what the length says.
bool lies(ByteView frame, WireType) {
  if (frame.size() < 5) return false;
  const bool is_long = frame[0] == 0xdd || frame[0] == 0xdf || frame[0] == 0xc6 || frame[0] == 0xdb;
  return is_long && frame[1] >= 0x40 && frame.size() < (std::size_t{1} << 26);
}

Poison bytes_above(std::size_t limit) {
  return [limit](const Message& message) {
    return std::any_of(message.begin(), message.end(),
                       [limit](const server::Frame& frame) { return frame.size() > limit; });
  };
}

bool many_frames(const Message& message) { return message.size() > 12; }

Changes dies_of_calls(std::initializer_list<RequestType> types,
                      std::function<bool(Call&, const Parts&)> bad) {
  return with_calls(types, [bad = std::move(bad)](Call& call, const Parts& parts) {
    if (bad(call, parts)) std::_Exit(kDeathExitCode);
    return call.next();
  });
}

bool bad_event(Call& call, const Parts& parts) {
  const auto handle = call.get<Bytes>(3);
  return handle && !handle->empty() && !parts.device.open_event(*handle);
}

bool bad_block_id(Call& call, const Parts&) {
  const auto ids = call.get<IntArray>(2);
  return ids && std::any_of(ids->begin(), ids->end(),
                            [](Int id) { return id < Int(0) || id > Int(1U << 20U); });
}

bool bad_token(Call& call, const Parts&) {
  const auto key = call.get<Key>(0);
  return key && !key->token_ids.all_fit_u32();
}

bool bad_range(Call& call, const Parts&) {
  const auto key = call.get<Key>(0);
  return key && (key->start < Int(0) || key->end < key->start);
}

bool nobody_there(Call& call, const Parts& parts) {
  // As a null pointer is followed.
  const auto key = call.get<Key>(0);
  const auto result = key ? result_of<TransferResult>(call.next()) : std::nullopt;
  return result && !result->ok && result->event_handle.empty() && key->worker_id.has_value() &&
         key->start == Int(0) && key->end == Int(parts.chunk_size);
}

}  // namespace

void add_robustness_flaws(FlawList& list) {
  list.push_back({"dies-of-unknown-number", "Dies of a type that the release does not have.",
                  "envelope.unknown-type", [] { return dies_of(unknown_number); }});
  list.push_back({"hangs-of-unknown-number", "Answers nobody after a type it does not know.",
                  "envelope.unknown-type", [] { return hangs_of(unknown_number); }});
  list.push_back({"dies-of-a-type-by-name", "Dies of a type that is a str.",
                  "envelope.unknown-type", [] { return dies_of(type_of_another_kind); }});
  list.push_back({"dies-of-a-malformed-type", "Dies of a type frame that is no msgpack.",
                  "envelope.unknown-type", [] { return dies_of(malformed_type); }});
  list.push_back({"dies-of-one-frame", "Dies of a message without a type.",
                  "envelope.too-few-frames", [] { return dies_of(too_few_frames); }});
  list.push_back({"hangs-of-one-frame", "Answers nobody after a message without a type.",
                  "envelope.too-few-frames", [] { return hangs_of(too_few_frames); }});
  list.push_back({"dies-of-a-wrong-count", "Dies of a payload too many, or too few.",
                  "envelope.payload-count", [] { return dies_of(wrong_count); }});
  list.push_back({"dies-of-a-bad-payload", "Dies of a payload that does not decode.",
                  "robustness.one-client-stops-nobody",
                  [] { return dies_of(payload(does_not_decode)); }});
  list.push_back({"hangs-of-bad-tensors", "Answers nobody after a KVCache that does not decode.",
                  "typing.pickle-document", [] { return hangs_of(payload(bad_tensors)); }});
  list.push_back({"dies-of-depth", "Dies of a document that is nested deep.", "robustness.depth",
                  [] { return dies_of(payload(deep)); }});
  list.push_back({"dies-of-lying-lengths", "Reserves as much as a length says, and dies of it.",
                  "robustness.lying-lengths", [] { return dies_of(payload(lies)); }});
  list.push_back({"dies-of-huge-frames", "Dies of a frame of more than 32 MiB.", "robustness.size",
                  [] { return dies_of(bytes_above(std::size_t{32} << 20)); }});
  list.push_back({"dies-of-many-frames", "Dies of a message of many frames.", "robustness.size",
                  [] { return dies_of(many_frames); }});
  list.push_back(
      {"dies-of-a-bad-event", "Dies of an event that does not open.", "refusal.server-lives", [] {
         return dies_of_calls({RequestType::kStore, RequestType::kRetrieve}, bad_event);
       }});
  list.push_back(
      {"dies-of-a-bad-block-id", "Dies of a block id that no instance has.", "refusal.server-lives",
       [] {
         return dies_of_calls({RequestType::kStore, RequestType::kRetrieve}, bad_block_id);
       }});
  list.push_back({"dies-of-a-bad-token", "Dies of a token that is no u32.", "refusal.server-lives",
                  [] { return dies_of_calls(kPagedKeyTypes, bad_token); }});
  list.push_back({"dies-of-a-bad-range", "Dies of a transfer whose range is none.",
                  "refusal.server-lives", [] {
                    return dies_of_calls({RequestType::kStore, RequestType::kRetrieve}, bad_range);
                  }});
  list.push_back({"dies-of-an-unknown-instance", "Dies of a STORE of nobody's.",
                  "refusal.server-lives",
                  [] { return dies_of_calls({RequestType::kStore}, nobody_there); }});
}

}  // namespace kvc::mutants
