// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of blend: buffers, what is stored from them, and what is written back.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "mutants/flaw.h"
#include "mutants/shadow.h"

namespace kvc::mutants {
namespace {

constexpr auto kRegister = RequestType::kCbRegisterKvCache;
constexpr auto kUnregister = RequestType::kCbUnregisterKvCache;
constexpr auto kRetrieveV1 = RequestType::kCbRetrievePreComputed;
constexpr auto kRetrieveV2 = RequestType::kCbRetrievePreComputedV2;
constexpr std::initializer_list<RequestType> kStores{RequestType::kCbStorePreComputed,
                                                     RequestType::kCbStoreFinal};
constexpr std::initializer_list<RequestType> kRetrieves{kRetrieveV1, kRetrieveV2};
constexpr std::size_t kStoreOffset = 1;  // payloads
constexpr std::size_t kRetrieveOffset = 2;
constexpr std::size_t kMatches = 1;

Changes offset_ignored(std::initializer_list<RequestType> types, std::size_t payload) {
  return with_calls(types, [payload](Call& call, const Parts&) {
    call.change<Int>(payload, [](Int& offset) { offset = Int(0); });
    return call.next();
  });
}

// Only the tokens [0, end) of the key.
void cut_to_end(Key& key) {
  std::vector<Int> tokens = key.token_ids.to_vector();
  const auto end = key.end.as_u64();
  if (end && *end < tokens.size()) tokens.resize(*end);
  key.token_ids = IntArray::of(tokens);
}

Changes second_is_ignored() {
  return {.handlers = [](const Parts& parts) {
    const auto known = std::make_shared<std::map<Int, bool>>();  // on the loop's thread only
    around(parts.handlers, {kRegister}, [known](Call& call) {
      const auto id = call.get<Int>(0);
      if (id && known->contains(*id)) return answer_none();
      Outcome outcome = call.next();
      if (outcome.reply && id) (*known)[*id] = true;
      return outcome;
    });
    around(parts.handlers, {kUnregister}, [known](Call& call) {
      if (const auto id = call.get<Int>(0)) known->erase(*id);
      return call.next();
    });
  }};
}

Changes first_tensor_will_do() {
  return with_calls({kRegister}, [](Call& call, const Parts&) {
    call.change<KVCache>(1, [](KVCache& cache) {
      if (cache.size() > 1) cache.resize(1);
    });
    return call.next();
  });
}

Changes unregister_both() {
  return with_calls({kUnregister}, [](Call& call, const Parts& parts) {
    if (const auto id = call.get<Int>(0)) static_cast<void>(parts.engine.unregister_kv_cache(*id));
    return call.next();
  });
}

// Where each match is written.
Changes with_matches(std::function<void(CBMatchResult&)> change) {
  return with_calls({kRetrieveV2}, [change = std::move(change)](Call& call, const Parts&) {
    call.change<CBMatchResults>(kMatches, [&](CBMatchResults& matches) {
      for (CBMatchResult& match : matches) change(match);
    });
    return call.next();
  });
}

// What can be written is written, and the answer is False.
Changes retrieve_part() {
  return with_calls({kRetrieveV2}, [](Call& call, const Parts&) {
    Outcome outcome = call.next();
    const auto all = call.get<CBMatchResults>(kMatches);
    const auto refused = result_of<TransferResult>(outcome);
    if (!all || !refused || refused->ok || refused->event_handle.empty()) return outcome;
    for (const CBMatchResult& match : *all) {
      call.set(kMatches, CBMatchResults{match});
      auto part = result_of<TransferResult>(call.next());
      if (!part || !part->ok) continue;
      part->ok = false;
      outcome = answer(*part);
    }
    return outcome;
  });
}

Changes true_all_the_same(std::initializer_list<RequestType> types) {
  return with_calls(types, [](Call& call, const Parts&) {
    Outcome outcome = call.next();
    auto result = result_of<TransferResult>(outcome);
    if (!result || result->event_handle.empty()) return outcome;
    result->ok = true;
    return answer(*result);
  });
}

// The chunks that lie within the buffer, of a store that goes beyond its end.
Changes store_what_fits() {
  return with_calls(kStores, [](Call& call, const Parts& parts) {
    Outcome outcome = call.next();
    const auto key = call.get<Key>(0);
    const auto refused = result_of<TransferResult>(outcome);
    if (!key || !refused || refused->ok || refused->event_handle.empty()) return outcome;
    std::vector<Int> tokens = key->token_ids.to_vector();
    while (tokens.size() > parts.chunk_size) {
      tokens.resize(tokens.size() - parts.chunk_size);
      Key shorter = *key;
      shorter.token_ids = IntArray::of(tokens);
      call.set(0, shorter);
      outcome = call.next();
      if (transferred(outcome)) break;
    }
    return outcome;
  });
}

Changes last_writer_wins() {
  return with_calls(kStores, [](Call& call, const Parts& parts) {
    if (const auto key = call.get<Key>(0))
      forget(parts.engine.objects(), objects_of(*key, parts.chunk_size));
    return call.next();
  });
}

// A blend copy has one block id a token.
Changes before_the_event(bool stores) {
  return {.units = [stores](Unit unit, Stream& stream) {
    const bool is_blend = unit.space && unit.space->layout.format == KvFormat::kTwoNlTD;
    if (is_blend && (stores ? unit.stores() : unit.retrieves())) unit.wait_for = nullptr;
    play(std::move(unit), stream);
  }};
}

Changes one_token_late() {
  return {.units = [](Unit unit, Stream& stream) {
    if (unit.space && unit.space->layout.format == KvFormat::kTwoNlTD && unit.retrieves())
      for (ChunkCopy& copy : unit.copies)
        for (std::int64_t& id : copy.block_ids)
          id = std::min(id + 1, static_cast<std::int64_t>(unit.space->layout.num_blocks) - 1);
    play(std::move(unit), stream);
  }};
}

Changes reply_after_the_copy() {
  return with_calls(kStores, [](Call& call, const Parts& parts) {
    Outcome outcome = call.next();
    const auto result = result_of<TransferResult>(outcome);
    if (result && result->ok)
      if (const auto event = parts.device.open_event(result->event_handle))
        (*event)->synchronize_for(std::chrono::seconds(10));
    return outcome;
  });
}

Changes bad_event_ignored() {
  return with_calls({RequestType::kCbStorePreComputed}, [](Call& call, const Parts& parts) {
    const auto spare = parts.device.create_event();
    call.change<Bytes>(3, [&](Bytes& handle) {
      if (!parts.device.open_event(handle)) handle = spare->ipc_handle();
    });
    return call.next();
  });
}

// As if world 1 and one worker were all there is.
Changes any_worker_registers() {
  return with_calls(kStores, [](Call& call, const Parts&) {
    call.change<Key>(0, [](Key& key) {
      if (key.worker_id) key.worker_id = Int(0);
    });
    return call.next();
  });
}

}  // namespace

void add_blend_flaws(FlawList& list) {
  list.push_back({"blend-second-buffer-ignored",
                  "A second CB_REGISTER_KV_CACHE of an instance changes nothing.",
                  "blend.register-replaces", second_is_ignored});
  list.push_back({"blend-first-tensor-will-do",
                  "CB_REGISTER_KV_CACHE takes the first of several tensors.", "blend.one-tensor",
                  first_tensor_will_do});
  list.push_back({"blend-unregister-ends-both",
                  "CB_UNREGISTER_KV_CACHE ends the paged instance of that id too.", "blend.ids",
                  unregister_both});
  list.push_back(
      {"blend-unregister-ignored", "CB_UNREGISTER_KV_CACHE does nothing.", "blend.unregister", [] {
         return with_calls({kUnregister}, [](Call&, const Parts&) { return answer_none(); });
       }});
  list.push_back({"blend-store-ignores-offset", "CB_STORE reads from the buffer's first token on.",
                  "blend.store-offset", [] { return offset_ignored(kStores, kStoreOffset); }});
  list.push_back({"blend-retrieve-ignores-offset",
                  "A blend retrieve counts its places from the buffer's first token.",
                  "blend.retrieve-exact",
                  [] { return offset_ignored(kRetrieves, kRetrieveOffset); }});
  list.push_back({"blend-retrieve-one-token-late",
                  "A blend retrieve writes each token one place too far.", "blend.retrieve-exact",
                  one_token_late});
  list.push_back(
      {"blend-writes-to-the-old-place",
       "CB_RETRIEVE_PRE_COMPUTED_V2 writes to old_st in place of cur_st.", "blend.retrieve-exact",
       [] { return with_matches([](CBMatchResult& match) { match.cur_st = match.old_st; }); }});
  list.push_back({"blend-store-ends-at-end", "CB_STORE stores the tokens before end only.",
                  "blend.store-all", [] { return with_keys(kStores, cut_to_end); }});
  list.push_back({"blend-last-writer-wins", "A CB_STORE replaces what is there already.",
                  "blend.store-first-writer", last_writer_wins});
  list.push_back({"blend-any-worker-registers", "A CB_STORE of any worker is taken for worker 0's.",
                  "blend.worker-registers", any_worker_registers});
  list.push_back({"blend-store-before-the-event", "CB_STORE reads before the client's event.",
                  "blend.store-event", [] { return before_the_event(true); }});
  list.push_back({"blend-retrieve-before-the-event",
                  "A blend retrieve writes before the client's event.", "blend.retrieve-event",
                  [] { return before_the_event(false); }});
  list.push_back({"blend-store-replies-late", "CB_STORE answers when its copy is done.",
                  "blend.reply-first", reply_after_the_copy});
  list.push_back({"blend-bad-event-ignored",
                  "CB_STORE goes on without an event that does not open.", "blend.bad-event",
                  bad_event_ignored});
  list.push_back({"blend-retrieve-part",
                  "A blend retrieve of which a match is missing writes the others.",
                  "blend.retrieve-all-or-nothing", retrieve_part});
  list.push_back({"blend-missing-is-true", "A blend retrieve of what is not there says True.",
                  "blend.retrieve-all-or-nothing",
                  [] { return true_all_the_same({kRetrieveV2}); }});
  list.push_back({"blend-store-out-of-bounds-is-true",
                  "A CB_STORE from outside of the buffer says True, and stores nothing.",
                  "blend.bounds", [] { return true_all_the_same(kStores); }});
  list.push_back({"blend-store-what-fits",
                  "A CB_STORE that goes beyond the buffer stores the chunks that lie within.",
                  "blend.bounds", store_what_fits});
}

}  // namespace kvc::mutants
