// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of the read locks: taken, given back, and whose they are.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "mutants/flaw.h"
#include "mutants/shadow.h"

namespace kvc::mutants {
namespace {

constexpr auto kLookup = RequestType::kLookup;
constexpr auto kFree = RequestType::kFreeLookupLocks;
constexpr auto kRetrieve = RequestType::kRetrieve;

Changes with_tp_size(std::initializer_list<RequestType> types, Int tp_size) {
  return with_calls(types, [tp_size](Call& call, const Parts&) {
    call.change<Int>(1, [&](Int& size) { size = tp_size; });
    return call.next();
  });
}

void whole_range(Key& key) {
  key.start = Int(0);
  key.end = Int(key.token_ids.size());
}

// All that any request holds of the same tokens.
void free_others(const KeyBook& lookups, const Key& key, Engine& engine) {
  for (const Key& other : lookups.all()) {
    if (other.request_id == key.request_id) continue;
    Key theirs = key;
    theirs.request_id = other.request_id;
    static_cast<void>(engine.free_lookup_locks(theirs, 1));
  }
}

Changes free_of_anybody() {
  return {.handlers = [](const Parts& parts) {
    const auto lookups = keys_of(parts, {kLookup});
    around(parts.handlers, {kFree}, [lookups, parts](Call& call) {
      if (const auto key = call.get<Key>(0)) free_others(*lookups, *key, parts.engine);
      return call.next();
    });
  }};
}

Changes failed_retrieve_frees() {
  return {.handlers = [](const Parts& parts) {
    const auto lookups = keys_of(parts, {kLookup});
    around(parts.handlers, {kRetrieve}, [lookups, parts](Call& call) {
      Outcome outcome = call.next();
      const auto key = call.get<Key>(0);
      if (key && !transferred(outcome)) free_others(*lookups, *key, parts.engine);
      return outcome;
    });
  }};
}

// One lock more for what was retrieved, in place of the one that it used.
Changes retrieve_keeps() {
  return with_calls({kRetrieve}, [](Call& call, const Parts& parts) {
    Outcome outcome = call.next();
    const auto key = call.get<Key>(0);
    if (!key || !transferred(outcome)) return outcome;
    const bool pending =
        *parts.engine.query_prefetch_lookup_hits(key->request_id) != OptionalInt(0);
    static_cast<void>(parts.engine.lookup(*key, 1));
    if (!pending) static_cast<void>(parts.engine.query_prefetch_status(key->request_id));
    return outcome;
  });
}

Changes retrieve_takes_all() {
  return with_calls({kRetrieve}, [](Call& call, const Parts& parts) {
    Outcome outcome = call.next();
    const auto key = call.get<Key>(0);
    if (key && transferred(outcome)) static_cast<void>(parts.engine.free_lookup_locks(*key, 128));
    return outcome;
  });
}

// What is behind the first gap is locked as well, each run as if it were the first.
Changes locks_behind_gaps() {
  return {.handlers = [](const Parts& parts) {
    const auto book = InstanceBook::kept(parts);
    around(parts.handlers, {kLookup}, [book, parts](Call& call) {
      Outcome outcome = call.next();
      const auto key = call.get<Key>(0);
      const auto shape = key ? book->shape_of(key->model_name, key->world_size) : std::nullopt;
      if (!shape || !outcome.reply) return outcome;
      ObjectStore& store = parts.engine.objects();
      const RequestNumber request = request_number(key->request_id);
      const std::vector<ChunkHash> chunks = chunks_of(*key, parts.chunk_size);
      bool gap = false;
      for (const ChunkHash& chunk : chunks) {
        WorkerScopes workers(*key);
        bool all_there = true;
        for (std::uint64_t worker = 0; worker < workers.size(); ++worker) {
          const ObjectKey object{chunk, workers.at(worker)};
          if (!store.readable(object)) all_there = false;
        }
        if (gap && all_there) store.lock_leading_run({&chunk, 1}, workers, *shape, request, 1);
        gap = gap || !all_there;
      }
      return outcome;
    });
  }};
}

// The workers that have a chunk keep it locked, though it does not count.
Changes partial_chunks_locked() {
  return {.handlers = [](const Parts& parts) {
    const auto book = InstanceBook::kept(parts);
    around(parts.handlers, {kLookup}, [book, parts](Call& call) {
      Outcome outcome = call.next();
      auto key = call.get<Key>(0);
      const auto shape = key ? book->shape_of(key->model_name, key->world_size) : std::nullopt;
      if (!shape || !outcome.reply || key->worker_id || key->world_size > Int(8)) return outcome;
      const std::vector<ChunkHash> chunks = chunks_of(*key, parts.chunk_size);
      WorkerScopes all(*key);
      const auto is_whole = [&](const ChunkHash& chunk) {
        for (std::uint64_t worker = 0; worker < all.size(); ++worker)
          if (!parts.engine.objects().readable({chunk, all.at(worker)})) return false;
        return true;
      };
      const auto partial = std::find_if_not(chunks.begin(), chunks.end(), is_whole);
      if (partial == chunks.end()) return outcome;
      for (std::uint64_t worker = 0; worker < key->world_size.bits(); ++worker) {
        key->worker_id = Int(worker);
        WorkerScopes one(*key);
        parts.engine.objects().lock_leading_run({&*partial, 1}, one, *shape,
                                                request_number(key->request_id), 1);
      }
      return outcome;
    });
  }};
}

Changes every_tenth_free_lost() {
  return {.handlers = [](const Parts& parts) {
    const auto num_frees = std::make_shared<std::atomic<int>>(0);
    around(parts.handlers, {kFree}, [num_frees](Call& call) {
      return ++*num_frees % 10 == 0 ? answer_none() : call.next();
    });
  }};
}

}  // namespace

void add_lock_flaws(FlawList& list) {
  list.push_back(
      {"lookup-locks-twice", "LOOKUP takes two locks of each object.", "locks.one-a-lookup", [] {
         return with_calls({kLookup}, [](Call& call, const Parts&) {
           call.next();
           return call.next();
         });
       }});
  list.push_back({"tp-size-ignored", "LOOKUP takes one lock, whatever its tp_size is.",
                  "locks.tp-size", [] { return with_tp_size({kLookup}, 1); }});
  list.push_back({"tp-size-always-counts",
                  "LOOKUP takes tp_size locks in a world of that size too.", "locks.tp-size", [] {
                    return with_calls({kLookup}, [](Call& call, const Parts&) {
                      const auto tp_size = call.get<Int>(1);
                      Outcome outcome = call.next();
                      const auto key = call.get<Key>(0);
                      if (tp_size && key && *tp_size == key->world_size && *tp_size <= Int(8))
                        for (std::uint64_t i = 1; i < tp_size->bits(); ++i) call.next();
                      return outcome;
                    });
                  }});
  list.push_back({"free-ignores-tp-size", "FREE_LOOKUP_LOCKS gives one lock back, always.",
                  "locks.free-count", [] { return with_tp_size({kFree}, 1); }});
  list.push_back({"locks-behind-gaps", "LOOKUP locks what it finds behind a gap too.", "locks.gap",
                  locks_behind_gaps});
  list.push_back({"locks-of-partial-chunks",
                  "LOOKUP locks the objects of a chunk that not all workers have.", "locks.gap",
                  partial_chunks_locked});
  list.push_back(
      {"free-does-nothing", "FREE_LOOKUP_LOCKS is answered and releases nothing.", "locks.no-leak",
       [] { return with_calls({kFree}, [](Call&, const Parts&) { return answer_none(); }); }});
  list.push_back({"every-tenth-free-lost", "Every tenth FREE_LOOKUP_LOCKS releases nothing.",
                  "locks.no-leak", every_tenth_free_lost});
  list.push_back({"free-ignores-range", "FREE_LOOKUP_LOCKS releases all chunks of the key.",
                  "locks.free-range", [] { return with_keys({kFree}, whole_range); }});
  list.push_back({"free-ignores-start", "FREE_LOOKUP_LOCKS releases from the first chunk on.",
                  "locks.free-range",
                  [] { return with_keys({kFree}, [](Key& key) { key.start = Int(0); }); }});
  list.push_back({"free-releases-twice", "FREE_LOOKUP_LOCKS gives back two locks for one.",
                  "locks.free-count", [] {
                    return with_calls({kFree}, [](Call& call, const Parts&) {
                      call.next();
                      return call.next();
                    });
                  }});
  list.push_back({"free-of-anybody", "FREE_LOOKUP_LOCKS releases other requests' locks as well.",
                  "locks.free-own", free_of_anybody});
  list.push_back({"failed-retrieve-frees", "A RETRIEVE that fails releases other requests' locks.",
                  "locks.failed-retrieve", failed_retrieve_frees});
  list.push_back({"retrieve-keeps-its-lock", "RETRIEVE does not use a lock up.",
                  "retrieve.releases", retrieve_keeps});
  list.push_back({"retrieve-takes-all-locks", "RETRIEVE uses up all locks of its request.",
                  "locks.tp-size", retrieve_takes_all});
  list.push_back(
      {"locks-expire-at-once", "A read lock expires as it is taken.", "retrieve.exact", [] {
         return Changes{
             .options = [](EngineOptions& options) { options.read_ttl = std::chrono::seconds(0); }};
       }});
}

}  // namespace kvc::mutants
