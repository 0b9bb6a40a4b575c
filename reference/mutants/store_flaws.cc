// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of STORE: what is copied, and what becomes of it.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "mutants/flaw.h"
#include "mutants/shadow.h"

namespace kvc::mutants {
namespace {

constexpr auto kStore = RequestType::kStore;
constexpr std::initializer_list<RequestType> kBoth{kStore, RequestType::kRetrieve};

// Changes each copy of a STORE before it is made.
Changes with_store_copies(std::function<void(ChunkCopy&, const Layout&)> change) {
  return {.units = [change = std::move(change)](Unit unit, Stream& stream) {
    if (unit.stores())
      for (ChunkCopy& copy : unit.copies) change(copy, unit.space->layout);
    play(std::move(unit), stream);
  }};
}

// Changes an object's bytes when the copy into it is made.
Changes with_stored_bytes(std::function<void(std::span<std::uint8_t>, const Layout&)> change) {
  return {.units = [change = std::move(change)](Unit unit, Stream& stream) {
    if (unit.stores())
      unit.finish = [change, space = unit.space, copies = unit.copies,
                     finish = std::move(unit.finish)](bool completed) {
        for (const ChunkCopy& copy : copies)
          if (completed) change({copy.object, space->layout.chunk_bytes}, space->layout);
        finish(completed);
      };
    play(std::move(unit), stream);
  }};
}

void next_block(ChunkCopy& copy, const Layout& layout) {
  for (std::int64_t& id : copy.block_ids)
    id = (id + 1) % static_cast<std::int64_t>(layout.num_blocks);
}

void in_ascending_order(ChunkCopy& copy, const Layout&) {
  std::sort(copy.block_ids.begin(), copy.block_ids.end());
}

void first_block_for_all(ChunkCopy& copy, const Layout&) {
  std::fill(copy.block_ids.begin(), copy.block_ids.end(), copy.block_ids.front());
}

void swap_k_and_v(std::span<std::uint8_t> object, const Layout& layout) {
  for (const LayerGroup& group : layout.groups) {
    if (group.kv_size != 2) continue;
    const auto first = object.begin() + static_cast<std::ptrdiff_t>(group.object_offset_bytes);
    const auto half = first + static_cast<std::ptrdiff_t>(group.object_bytes / 2);
    std::swap_ranges(first, half, half);
  }
}

void lose_last_layer(std::span<std::uint8_t> object, const Layout& layout) {
  const LayerGroup& group = layout.groups.back();
  const std::size_t layer_bytes = group.object_bytes / group.kv_size / group.layers.size();
  std::fill(object.end() - static_cast<std::ptrdiff_t>(layer_bytes), object.end(), std::uint8_t{0});
}

void round_elements(std::span<std::uint8_t> object, const Layout&) {
  for (std::uint8_t& byte : object) byte &= 0xfe;
}

Changes answering_true() {
  return with_calls({kStore}, [](Call& call, const Parts&) {
    Outcome outcome = call.next();
    auto result = result_of<TransferResult>(outcome);
    if (!result || result->ok || result->event_handle.empty()) return outcome;
    result->ok = true;
    return answer(*result);
  });
}

// What has no room is stored as far as it goes.
Changes store_what_fits() {
  return with_calls({kStore}, [](Call& call, const Parts& parts) {
    Outcome outcome = call.next();
    auto key = call.get<Key>(0);
    while (key && !transferred(outcome) && key->end > key->start &&
           key->end.bits() >= parts.chunk_size) {
      key->end = Int(key->end.bits() - parts.chunk_size);
      call.set(0, *key);
      if (key->end == key->start) break;
      outcome = call.next();
    }
    return outcome;
  });
}

Changes last_writer_wins() {
  return with_calls({kStore}, [](Call& call, const Parts& parts) {
    if (const auto key = call.get<Key>(0))
      forget(parts.engine.objects(), objects_of(*key, parts.chunk_size));
    return call.next();
  });
}

Changes existing_is_false() {
  return with_calls({kStore}, [](Call& call, const Parts& parts) {
    const auto key = call.get<Key>(0);
    bool exists = false;
    if (key)
      for (const ObjectKey& object : objects_of(*key, parts.chunk_size))
        exists = exists || parts.engine.objects().exists(object);
    Outcome outcome = call.next();
    auto result = result_of<TransferResult>(outcome);
    if (!exists || !result) return outcome;
    result->ok = false;
    return answer(*result);
  });
}

// A block id beyond the last is taken modulo their number.
Changes block_ids_wrap() {
  return {.handlers = [](const Parts& parts) {
    const auto book = InstanceBook::kept(parts);
    around(parts.handlers, {kStore, RequestType::kRetrieve}, [book](Call& call) {
      const auto id = call.get<Int>(1);
      const auto instance = id ? book->find(*id) : nullptr;
      if (instance != nullptr)
        call.change<IntArray>(2, [&](IntArray& ids) {
          std::vector<Int> wrapped = ids.to_vector();
          for (Int& block : wrapped) block = Int(block.bits() % instance->space->layout.num_blocks);
          ids = IntArray::of(wrapped);
        });
      return call.next();
    });
  }};
}

// Too few block ids store what they are enough for.
Changes few_blocks_are_fine() {
  return {.handlers = [](const Parts& parts) {
    const auto book = InstanceBook::kept(parts);
    around(parts.handlers, {kStore}, [book, parts](Call& call) {
      const auto id = call.get<Int>(1);
      const auto ids = call.get<IntArray>(2);
      const auto instance = id ? book->find(*id) : nullptr;
      if (instance != nullptr && ids)
        call.change<Key>(0, [&](Key& key) {
          const std::size_t num_chunks = ids->size() / instance->space->layout.blocks_per_chunk();
          key.end = std::min(key.end, Int(key.start.bits() + num_chunks * parts.chunk_size));
        });
      return call.next();
    });
  }};
}

void round_range(Key& key, std::size_t chunk_size) {
  if (!key.start.is_negative()) key.start = Int(key.start.bits() / chunk_size * chunk_size);
  if (!key.end.is_negative()) key.end = Int(key.end.bits() / chunk_size * chunk_size);
}

void clip_end(Key& key, std::size_t chunk_size) {
  const Int all(key.token_ids.size() / chunk_size * chunk_size);
  if (key.end > all) key.end = all;
}

void worker_0_if_none(Key& key) {
  if (!key.worker_id) key.worker_id = Int(0);
}

}  // namespace

void add_store_flaws(FlawList& list) {
  list.push_back({"store-one-block-off", "STORE reads the block behind the one it is given.",
                  "store.blocks", [] { return with_store_copies(next_block); }});
  list.push_back({"store-sorts-blocks", "STORE reads a chunk's blocks in ascending order.",
                  "store.blocks", [] { return with_store_copies(in_ascending_order); }});
  list.push_back({"store-one-block-a-chunk", "STORE reads the first block of a chunk for them all.",
                  "store.blocks", [] { return with_store_copies(first_block_for_all); }});
  list.push_back({"store-ignores-start", "STORE takes its first block for the key's first chunk.",
                  "store.blocks",
                  [] { return with_keys({kStore}, [](Key& key) { key.start = Int(0); }); }});
  list.push_back({"keys-and-values-swapped", "Stores values where keys are due, and keys for them.",
                  "layout.object-form", [] { return with_stored_bytes(swap_k_and_v); }});
  list.push_back({"last-layer-lost", "Stores zeros for the last layer.", "retrieve.exact",
                  [] { return with_stored_bytes(lose_last_layer); }});
  list.push_back({"low-bit-lost", "Loses the lowest bit of each byte.", "layout.dtypes",
                  [] { return with_stored_bytes(round_elements); }});
  list.push_back({"last-writer-wins", "A STORE replaces what is there already.",
                  "store.first-writer", last_writer_wins});
  list.push_back({"stored-twice-is-false", "A STORE of what is there already answers False.",
                  "store.first-writer", existing_is_false});
  list.push_back({"store-what-fits", "Where not all chunks of a STORE have room, stores the first.",
                  "store.no-memory", store_what_fits});
  list.push_back({"refused-store-is-true", "Answers True to a STORE that it refuses.",
                  "refusal.never-true", answering_true});
  list.push_back({"block-ids-wrap", "Takes a block id modulo the number of blocks.",
                  "transfer.block-ids", block_ids_wrap});
  list.push_back({"few-blocks-are-fine", "Stores as many chunks as there are block ids for.",
                  "transfer.block-ids", few_blocks_are_fine});
  list.push_back({"range-rounded", "Rounds start and end of a transfer down to chunks.",
                  "transfer.range", [] { return with_keys_and_chunk_size(kBoth, round_range); }});
  list.push_back({"end-clipped", "Takes an end beyond the tokens for their last chunk's.",
                  "transfer.end-beyond-tokens",
                  [] { return with_keys_and_chunk_size(kBoth, clip_end); }});
  list.push_back({"no-worker-is-worker-0", "A transfer without worker_id is worker 0's.",
                  "transfer.worker", [] { return with_keys(kBoth, worker_0_if_none); }});
}

}  // namespace kvc::mutants
