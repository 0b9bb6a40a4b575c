// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Store and Retrieve: requests that decode and cannot be served. MUST: never True, no effect, no
// lock left, and the right request then works. SHOULD: (b"", False) is said. One table for both.
#include <algorithm>

#include "conformance/cases/data_cases.h"
#include "conformance/harness/engine_player.h"

namespace kvc::conformance {
namespace {

struct Transfer {
  Key key;
  Int instance_id;
  BlockIds blocks;
  Bytes event;
};

enum class For { kBoth, kStore, kRetrieve };

struct Refusal {
  std::string id;
  std::string claim;  // "STORE with … "
  std::string requirement;
  std::function<void(Case&, EnginePlayer&, Transfer&)> spoil;
  For requests = For::kBoth;
  bool hostile = false;  // only with --security: it may keep a server busy for very long
};

// Two chunks and a tail.
Tokens usual_tokens(EnginePlayer& player) {
  return player.fresh_tokens(2 * player.chunk_size() +
                             std::min<std::size_t>(5, player.chunk_size() - 1));
}

Transfer usual(EnginePlayer& player, const Tokens& tokens, std::size_t place) {
  return {player.key(tokens), player.instance_id(), player.blocks(place, 2), player.ready_event()};
}

void spoil_token(Transfer& transfer, Int token) {
  std::vector<Int> tokens = transfer.key.token_ids.to_vector();
  tokens.front() = token;
  transfer.key.token_ids = IntArray::of(tokens);
}

// Everything queued on the instance's stream has been done when a STORE's event is complete.
void flush(EnginePlayer& player) {
  player.store_ok(player.key(player.fresh_chunks(1)), player.blocks(0), "STORE of another chunk");
}

void expect_store_refused(Case& test, const Refusal& refusal) {
  EnginePlayer player = registered_player(test, small_shape(test, 6));
  const Tokens tokens = usual_tokens(player);
  const Contents contents = player.fill(player.blocks(0, 2), test.random()());
  const MemoryImage before = player.image();
  Transfer transfer = usual(player, tokens, 0);
  refusal.spoil(test, player, transfer);
  player.expect_never_true(
      player.send_store(transfer.key, transfer.instance_id, transfer.blocks, transfer.event),
      "STORE with " + refusal.claim);
  flush(player);
  player.expect_lookup(tokens, Int(0), "after the STORE that was refused");

  test.step("the right STORE after the refusal");
  player.store_ok(player.key(tokens), player.blocks(0, 2));
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(2), "chunks found by LOOKUP");
  player.retrieve_ok(key, player.blocks(3, 2));
  player.expect_image(player.with(before, player.blocks(3, 2), contents), "the right STORE");
}

void expect_retrieve_refused(Case& test, const Refusal& refusal) {
  EnginePlayer player = registered_player(test, small_shape(test, 6));
  const Tokens tokens = usual_tokens(player);
  const Contents contents = player.fill(player.blocks(0, 2), test.random()());
  player.store_ok(player.key(tokens), player.blocks(0, 2));
  const MemoryImage before = player.image();
  Transfer transfer = usual(player, tokens, 3);
  test.expect_equal(player.lookup(transfer.key), Int(2), "chunks found by LOOKUP");
  refusal.spoil(test, player, transfer);
  player.expect_never_true(
      player.send_retrieve(transfer.key, transfer.instance_id, transfer.blocks, transfer.event),
      "RETRIEVE with " + refusal.claim);
  flush(player);
  player.expect_image(before, "the RETRIEVE that was refused");

  test.step("the right RETRIEVE after the refusal");
  const Key key = player.key(tokens);
  test.expect_equal(player.lookup(key), Int(2), "chunks found by LOOKUP");
  player.retrieve_ok(key, player.blocks(3, 2));
  player.expect_image(player.with(before, player.blocks(3, 2), contents), "the right RETRIEVE");
}

void expect_false(Case& test, const Refusal& refusal, bool store) {
  EnginePlayer player = registered_player(test, small_shape(test, 6));
  const Tokens tokens = usual_tokens(player);
  Transfer transfer = usual(player, tokens, 0);
  if (!store) {
    player.store_ok(transfer.key, transfer.blocks);
    player.lookup(transfer.key);
  }
  refusal.spoil(test, player, transfer);
  const Sent sent =
      store ? player.send_store(transfer.key, transfer.instance_id, transfer.blocks, transfer.event)
            : player.send_retrieve(transfer.key, transfer.instance_id, transfer.blocks,
                                   transfer.event);
  player.expect_says_false(sent, refusal.requirement == "transfer.block-ids",
                           (store ? "STORE with " : "RETRIEVE with ") + refusal.claim);
}

Int tokens_of(EnginePlayer& player, std::int64_t num_chunks) {
  return Int(num_chunks * static_cast<std::int64_t>(player.chunk_size()));
}

std::vector<Refusal> bad_ranges() {
  return {
      {"UnalignedStart", "a start that is no multiple of the chunk size", "transfer.range",
       [](Case&, EnginePlayer& player, Transfer& transfer) {
         transfer.key.start = Int(player.chunk_size() - 1);
       }},
      {"UnalignedEnd", "an end that is no multiple of the chunk size", "transfer.range",
       [](Case&, EnginePlayer& player, Transfer& transfer) {
         transfer.key.end = Int(player.chunk_size() + 1);
       }},
      {"NegativeStart", "a negative start", "transfer.range",
       [](Case&, EnginePlayer& player, Transfer& transfer) {
         transfer.key.start = tokens_of(player, -1);
         transfer.key.end = tokens_of(player, 1);
       }},
      {"NegativeEnd", "a negative end", "transfer.range",
       [](Case&, EnginePlayer& player, Transfer& transfer) {
         transfer.key.end = tokens_of(player, -1);
       }},
      {"StartBehindEnd", "a start behind the end", "transfer.range",
       [](Case&, EnginePlayer& player, Transfer& transfer) {
         transfer.key.start = tokens_of(player, 2);
         transfer.key.end = tokens_of(player, 1);
       }},
      {"EndBeyondTokens", "an end beyond the tokens", "transfer.end-beyond-tokens",
       [](Case&, EnginePlayer& player, Transfer& transfer) {
         transfer.key.end = tokens_of(player, 3);
         transfer.blocks = player.blocks(0, 3);
       }},
      {"RangeBeyondTokens", "a range beyond the tokens", "transfer.end-beyond-tokens",
       [](Case&, EnginePlayer& player, Transfer& transfer) {
         transfer.key.start = tokens_of(player, 3);
         transfer.key.end = tokens_of(player, 4);
         transfer.blocks = player.blocks(0, 1);
       }},
      {"EndFarBeyondTokens", "an end a thousand chunks beyond the tokens",
       "transfer.end-beyond-tokens",
       [](Case&, EnginePlayer& player, Transfer& transfer) {
         transfer.key.end = tokens_of(player, 1000);
       }},
      {"HugeEnd", "an end near 2^62", "transfer.end-beyond-tokens",
       [](Case&, EnginePlayer& player, Transfer& transfer) {
         transfer.key.end = tokens_of(
             player, (std::int64_t{1} << 62) / static_cast<std::int64_t>(player.chunk_size()));
       },
       For::kBoth, true},
  };
}

std::vector<Refusal> bad_names() {
  return {
      {"NoWorker", "no worker_id", "transfer.worker",
       [](Case&, EnginePlayer&, Transfer& transfer) { transfer.key.worker_id = std::nullopt; }},
      {"UnknownInstance", "an instance that is not registered", "transfer.registered",
       [](Case& test, EnginePlayer& player, Transfer& transfer) {
         // One that had its number given, and never came to register.
         transfer.instance_id =
             EnginePlayer(test, tiny_shape(test, 3), player.model_name()).instance_id();
       }},
      {"NegativeToken", "the token id -1", "chunk.tokens-u32",
       [](Case&, EnginePlayer&, Transfer& transfer) { spoil_token(transfer, Int(-1)); }},
      {"LargeToken", "the token id 2^32", "chunk.tokens-u32",
       [](Case&, EnginePlayer&, Transfer& transfer) {
         spoil_token(transfer, Int(std::uint64_t{1} << 32));
       }},
      {"HugeToken", "the token id 2^64-1", "chunk.tokens-u32",
       [](Case&, EnginePlayer&, Transfer& transfer) {
         spoil_token(transfer, Int(~std::uint64_t{0}));
       }},
  };
}

std::vector<Refusal> bad_events() {
  return {
      {"EmptyEvent", "an empty event handle", "events.bad-handle",
       [](Case&, EnginePlayer&, Transfer& transfer) { transfer.event.clear(); }, For::kStore},
      {"ShortEvent", "an event handle of 8 bytes", "events.bad-handle",
       [](Case&, EnginePlayer&, Transfer& transfer) { transfer.event.resize(8); }},
      {"GarbageEvent", "an event handle of 64 arbitrary bytes", "events.bad-handle",
       [](Case& test, EnginePlayer&, Transfer& transfer) {
         for (std::uint8_t& byte : transfer.event)
           byte = static_cast<std::uint8_t>(test.random()());
       }},
      {"AbsentEvent", "the handle of an event that is not there", "events.bad-handle",
       [](Case&, EnginePlayer&, Transfer& transfer) { transfer.event.at(11) ^= 0x15; }},
      {"MemoryAsEvent", "a memory handle in the place of an event", "events.bad-handle",
       [](Case& test, EnginePlayer&, Transfer& transfer) {
         transfer.event = test.device().create_buffer(4096)->ipc_handle();
       }},
  };
}

std::vector<Refusal> bad_blocks() {
  const auto last = [](std::int64_t (*id)(const EnginePlayer&)) {
    return [id](Case&, EnginePlayer& player, Transfer& transfer) {
      transfer.blocks.back() = id(player);
    };
  };
  return {
      {"NoBlocks", "no block ids", "transfer.block-ids",
       [](Case&, EnginePlayer&, Transfer& transfer) { transfer.blocks.clear(); }},
      {"OneBlockTooFew", "one block id too few", "transfer.block-ids",
       [](Case&, EnginePlayer&, Transfer& transfer) { transfer.blocks.pop_back(); }},
      {"BlocksForOneChunk", "block ids for one chunk of two", "transfer.block-ids",
       [](Case&, EnginePlayer& player, Transfer& transfer) {
         transfer.blocks.resize(player.blocks_per_chunk());
       }},
      {"BlockPastTheLast", "a block id that is the number of blocks", "transfer.block-ids",
       last([](const EnginePlayer& player) {
         return static_cast<std::int64_t>(player.geometry().num_blocks());
       })},
      {"NegativeBlock", "the block id -1", "transfer.block-ids",
       last([](const EnginePlayer&) { return std::int64_t{-1}; })},
      {"HugeBlock", "the block id 2^40", "transfer.block-ids",
       last([](const EnginePlayer&) { return std::int64_t{1} << 40; })},
      {"LargestBlock", "the block id 2^63-1", "transfer.block-ids",
       last([](const EnginePlayer&) { return ~(std::int64_t{1} << 63); })},
  };
}

void add_refusal(CaseList& cases, const Refusal& refusal, bool store) {
  const std::string noun = store ? "Store" : "Retrieve";
  const std::string request = store ? "STORE" : "RETRIEVE";
  std::vector<Capability> needs = {Capability::kDevice};
  if (refusal.hostile) needs.push_back(Capability::kSecurity);
  cases.add(
      {noun + ".Refuses" + refusal.id,
       {refusal.requirement, "refusal.never-true", "refusal.no-effect", "refusal.server-lives"},
       request + " with " + refusal.claim +
           " is never True and has no effect; the right one then works.",
       needs,
       [refusal, store](Case& test) {
         store ? expect_store_refused(test, refusal) : expect_retrieve_refused(test, refusal);
       }});
  cases.add({noun + ".SaysFalseFor" + refusal.id,
             {"refusal.says-false"},
             request + " with " + refusal.claim + " answers False.",
             needs,
             [refusal, store](Case& test) { expect_false(test, refusal, store); }});
}

}  // namespace

void add_transfer_refusal_cases(CaseList& cases) {
  for (const auto& table : {bad_ranges(), bad_names(), bad_events(), bad_blocks()})
    for (const Refusal& refusal : table) {
      if (refusal.requests != For::kRetrieve) add_refusal(cases, refusal, true);
      if (refusal.requests != For::kStore) add_refusal(cases, refusal, false);
    }
}

}  // namespace kvc::conformance
