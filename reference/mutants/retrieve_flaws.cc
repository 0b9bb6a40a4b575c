// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of RETRIEVE: what is written where.
#include <algorithm>
#include <string>
#include <utility>

#include "mutants/flaw.h"
#include "mutants/shadow.h"

namespace kvc::mutants {
namespace {

constexpr auto kRetrieve = RequestType::kRetrieve;
constexpr std::size_t kSkip = 4;  // the payload

Changes with_retrieve_copies(std::function<void(std::vector<ChunkCopy>&, const Layout&)> change) {
  return {.units = [change = std::move(change)](Unit unit, Stream& stream) {
    if (unit.retrieves()) change(unit.copies, unit.space->layout);
    play(std::move(unit), stream);
  }};
}

void reverse_blocks(std::vector<ChunkCopy>& copies, const Layout&) {
  for (ChunkCopy& copy : copies) std::reverse(copy.block_ids.begin(), copy.block_ids.end());
}

void first_object_for_all(std::vector<ChunkCopy>& copies, const Layout&) {
  for (ChunkCopy& copy : copies) copy.object = copies.front().object;
}

void last_chunk_missing(std::vector<ChunkCopy>& copies, const Layout&) {
  if (copies.size() > 1) copies.pop_back();
}

// What a copy of whole cache lines beyond the end does.
void next_block_too(std::vector<ChunkCopy>& copies, const Layout& layout) {
  const ChunkCopy last = copies.back();
  ChunkCopy beyond = last;
  for (std::int64_t& id : beyond.block_ids)
    id = (id + 1) % static_cast<std::int64_t>(layout.num_blocks);
  copies.insert(copies.begin(), beyond);  // first, so that the right blocks are right
}

// The tokens of a block of the instance that the call names.
Changes with_skip(std::function<Int(Int skip, const Key& key, std::size_t block_tokens)> change) {
  return {.handlers = [change = std::move(change)](const Parts& parts) {
    const auto book = InstanceBook::kept(parts);
    around(parts.handlers, {kRetrieve}, [book, change](Call& call) {
      const auto id = call.get<Int>(1);
      const auto key = call.get<Key>(0);
      const auto instance = id ? book->find(*id) : nullptr;
      if (instance != nullptr && key)
        call.change<Int>(kSkip, [&](Int& skip) {
          skip = change(skip, *key, instance->space->layout.tokens_per_block);
        });
      return call.next();
    });
  }};
}

Int rounded_up(Int skip, const Key&, std::size_t block_tokens) {
  if (skip.is_negative()) return skip;
  return Int((skip.bits() + block_tokens - 1) / block_tokens * block_tokens);
}

// What is there is copied, and the answer is False.
Changes as_far_as_it_goes() {
  return with_calls({kRetrieve}, [](Call& call, const Parts& parts) {
    Outcome outcome = call.next();
    auto key = call.get<Key>(0);
    const auto refused = result_of<TransferResult>(outcome);
    if (!key || !refused || refused->ok || refused->event_handle.empty()) return outcome;
    while (key->end.bits() > key->start.bits() + parts.chunk_size) {
      key->end = Int(key->end.bits() - parts.chunk_size);
      call.set(0, *key);
      auto part = result_of<TransferResult>(call.next());
      if (!part || !part->ok) continue;
      part->ok = false;  // behind the same event
      return answer(*part);
    }
    return outcome;
  });
}

Changes unlocked_is_fine() {
  return with_calls({kRetrieve}, [](Call& call, const Parts& parts) {
    Outcome outcome = call.next();
    const auto key = call.get<Key>(0);
    if (!key || transferred(outcome) ||
        parts.engine.query_prefetch_lookup_hits(key->request_id).value().value_or(0) > Int(0))
      return outcome;
    static_cast<void>(parts.engine.lookup(*key, 1));
    static_cast<void>(parts.engine.query_prefetch_status(key->request_id));
    return call.next();
  });
}

Changes failed_is_true() {
  return with_calls({kRetrieve}, [](Call& call, const Parts&) {
    Outcome outcome = call.next();
    auto result = result_of<TransferResult>(outcome);
    if (!result || result->event_handle.empty()) return outcome;
    result->ok = true;
    return answer(*result);
  });
}

}  // namespace

void add_retrieve_flaws(FlawList& list) {
  list.push_back({"retrieve-reverses-blocks", "RETRIEVE fills a chunk's blocks from the last on.",
                  "retrieve.exact", [] { return with_retrieve_copies(reverse_blocks); }});
  list.push_back({"retrieve-first-chunk-only", "RETRIEVE writes the first chunk for all of them.",
                  "retrieve.exact", [] { return with_retrieve_copies(first_object_for_all); }});
  list.push_back({"retrieve-last-chunk-missing", "RETRIEVE of several chunks leaves the last out.",
                  "retrieve.exact", [] { return with_retrieve_copies(last_chunk_missing); }});
  list.push_back({"retrieve-writes-beyond", "RETRIEVE writes the block behind its target too.",
                  "retrieve.untouched", [] { return with_retrieve_copies(next_block_too); }});
  list.push_back({"retrieve-ignores-start", "RETRIEVE takes start for 0.", "retrieve.range",
                  [] { return with_keys({kRetrieve}, [](Key& key) { key.start = Int(0); }); }});
  list.push_back({"skip-rounded-up", "Rounds skip_first_n_tokens up to a block.", "retrieve.skip",
                  [] { return with_skip(rounded_up); }});
  list.push_back({"skip-ignored", "Ignores skip_first_n_tokens.", "retrieve.skip",
                  [] { return with_skip([](Int, const Key&, std::size_t) { return Int(0); }); }});
  list.push_back(
      {"skip-in-blocks", "Takes skip_first_n_tokens for a number of blocks.", "retrieve.skip", [] {
         return with_skip([](Int skip, const Key&, std::size_t block_tokens) {
           return Int(skip.bits() * block_tokens);
         });
       }});
  list.push_back({"skip-from-token-0", "Counts skip_first_n_tokens from the key's first token.",
                  "retrieve.skip", [] {
                    return with_skip([](Int skip, const Key& key, std::size_t) {
                      return skip > key.start ? Int(skip.bits() - key.start.bits()) : Int(0);
                    });
                  }});
  list.push_back({"retrieve-as-far-as-it-goes",
                  "A RETRIEVE of which a chunk is missing writes those before it, and says False.",
                  "retrieve.all-or-nothing", as_far_as_it_goes});
  list.push_back({"retrieve-needs-no-lock", "RETRIEVE copies what no LOOKUP has locked.",
                  "retrieve.needs-lock", unlocked_is_fine});
  list.push_back({"failed-retrieve-is-true", "Answers True to a RETRIEVE that finds nothing.",
                  "retrieve.needs-lock", failed_is_true});
}

}  // namespace kvc::mutants
