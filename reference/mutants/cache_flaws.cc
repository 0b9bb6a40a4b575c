// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of CLEAR, of eviction, of memory, and of reports that change what they should only note.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "mutants/flaw.h"
#include "mutants/shadow.h"

namespace kvc::mutants {
namespace {

constexpr auto kClear = RequestType::kClear;
constexpr auto kStore = RequestType::kStore;
constexpr auto kReport = RequestType::kReportBlockAllocation;

// Of the keys that were stored, forgets those that `drops` says so of.
Changes clear_some(std::function<bool(const Key&, const Parts&)> drops) {
  return {.handlers = [drops = std::move(drops)](const Parts& parts) {
    const auto stored = keys_of(parts, {kStore});
    around(parts.handlers, {kClear}, [stored, drops, parts](Call&) {
      for (const Key& key : stored->all())
        if (drops(key, parts)) forget(parts.engine.objects(), objects_of(key, parts.chunk_size));
      return answer_none();
    });
  }};
}

bool is_unlocked(const Key& key, const Parts& parts) {
  const auto objects = objects_of(key, parts.chunk_size);
  return std::all_of(objects.begin(), objects.end(), [&](const ObjectKey& object) {
    return parts.engine.objects().num_read_locks(object) == 0;
  });
}

Changes clear_ends_instances() {
  return {.handlers = [](const Parts& parts) {
    const auto book = InstanceBook::kept(parts);
    around(parts.handlers, {kClear}, [book, parts](Call& call) {
      for (const Int id : book->ids()) static_cast<void>(parts.engine.unregister_kv_cache(id));
      return call.next();
    });
  }};
}

// Bytes in the order in which they came: a use is no reason to stay.
Changes first_in_first_out() {
  return {.handlers = [](const Parts& parts) {
    const auto stored = keys_of(parts, {kStore});
    const auto in_order = [stored, parts](Call& call) {
      Outcome outcome = call.next();
      for (const Key& key : stored->all()) {
        WorkerScopes workers(key);
        parts.engine.objects().touch(chunks_of(key, parts.chunk_size), workers);
      }
      return outcome;
    };
    around(parts.handlers, {RequestType::kLookup, RequestType::kRetrieve}, in_order);
  }};
}

// Everything that was stored stays locked.
Changes nothing_evicted() {
  return {.handlers = [](const Parts& parts) {
    const auto stored = keys_of(parts, {kStore});
    around(parts.handlers, {kStore}, [stored, parts](Call& call) {
      for (Key key : stored->all()) {
        key.request_id = "keeper";
        if (is_unlocked(key, parts)) static_cast<void>(parts.engine.lookup(key, 1));
      }
      return call.next();
    });
  }};
}

// Where there is little room, locks do not count.
Changes locked_evicted() {
  return {.handlers = [](const Parts& parts) {
    const auto lookups = keys_of(parts, {RequestType::kLookup});
    around(parts.handlers, {kStore}, [lookups, parts](Call& call) {
      const ObjectStore& store = parts.engine.objects();
      if (store.free_bytes() > store.size_bytes() / 4) return call.next();
      for (Key key : lookups->all()) {
        key.start = Int(0);
        key.end = Int(key.token_ids.size());
        static_cast<void>(parts.engine.free_lookup_locks(key, 128));
      }
      lookups->clear();
      return call.next();
    });
  }};
}

// A refused STORE keeps the memory that it reserved.
Changes refusals_leak_memory() {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 12;
  constexpr std::size_t kNumPieces = 2048;
  return {.handlers = [](const Parts& parts) {
    struct State {
      std::mutex mutex;
      std::vector<ObjectRef> leaked;
      std::uint64_t number = 0;
    };
    const auto state = std::make_shared<State>();
    around(parts.handlers, {kStore}, [state, parts](Call& call) {
      Outcome outcome = call.next();
      if (!call.get<Key>(0) || transferred(outcome)) return outcome;
      const std::lock_guard lock(state->mutex);
      for (std::size_t i = 0; i < kNumPieces; ++i) {
        ObjectKey name{};
        name.scope.fill(0xdd);
        ++state->number;
        std::memcpy(name.hash.data(), &state->number, sizeof state->number);
        const auto reserved = parts.engine.objects().reserve({&name, 1}, kPieceBytes, {});
        if (!reserved) break;
        state->leaked.push_back(reserved->front());
      }
      return outcome;
    });
  }};
}

// A STORE that finds no room takes all that can go, and then says False.
Changes full_is_full() {
  return {.handlers = [](const Parts& parts) {
    const auto num_bytes = std::make_shared<std::atomic<std::size_t>>(0);
    const auto book = InstanceBook::kept(parts);
    around(parts.handlers, {kStore}, [num_bytes, book, parts](Call& call) {
      const auto key = call.get<Key>(0);
      const auto id = call.get<Int>(1);
      const auto instance = id ? book->find(*id) : nullptr;
      if (key && instance != nullptr && key->end > key->start) {
        *num_bytes += (key->end.bits() - key->start.bits()) / parts.chunk_size *
                      instance->space->layout.chunk_bytes;
        if (*num_bytes > parts.engine.objects().size_bytes()) return answer(TransferResult{});
      }
      return call.next();
    });
    around(parts.handlers, {kClear}, [num_bytes](Call& call) {
      *num_bytes = 0;
      return call.next();
    });
  }};
}

Changes reports_of_strangers_silent() {
  return {.handlers = [](const Parts& parts) {
    const auto book = InstanceBook::kept(parts);
    around(parts.handlers, {kReport}, [book](Call& call) {
      const auto id = call.get<Int>(0);
      return id && book->find(*id) == nullptr ? silence() : call.next();
    });
  }};
}

}  // namespace

void add_cache_flaws(FlawList& list) {
  list.push_back(
      {"clear-keeps-salted", "CLEAR drops only what has no cache_salt.", "clear.everything", [] {
         return clear_some([](const Key& key, const Parts&) { return key.cache_salt.empty(); });
       }});
  list.push_back({"clear-keeps-locked", "CLEAR leaves what is locked.", "clear.locked",
                  [] { return clear_some(is_unlocked); }});
  list.push_back(
      {"clear-does-nothing", "CLEAR is answered and drops nothing.", "clear.everything",
       [] { return with_calls({kClear}, [](Call&, const Parts&) { return answer_none(); }); }});
  list.push_back({"clear-ends-instances", "CLEAR forgets the registered instances too.",
                  "clear.keeps-registrations", clear_ends_instances});
  list.push_back({"first-in-first-out", "Evicts what was stored first, used or not.",
                  "eviction.lru", first_in_first_out});
  list.push_back({"nothing-evicted", "Keeps what was stored, and has no room for more.",
                  "eviction.makes-room", nothing_evicted});
  list.push_back({"full-is-full", "Stores its capacity once, and then nothing.",
                  "eviction.makes-room", full_is_full});
  list.push_back({"locked-evicted", "Evicts what is locked when there is no other room.",
                  "eviction.locked", locked_evicted});
  list.push_back({"refusals-leak-memory", "Each STORE that is refused leaks 8 MiB of the cache.",
                  "refusal.no-effect", refusals_leak_memory});
  list.push_back({"report-clears", "REPORT_BLOCK_ALLOCATION drops what is stored.",
                  "observability.changes-nothing", [] {
                    return with_calls({kReport}, [](Call& call, const Parts& parts) {
                      static_cast<void>(parts.engine.clear());
                      return call.next();
                    });
                  }});
  list.push_back({"reports-of-strangers-silent", "Does not answer reports of unknown instances.",
                  "observability.report", reports_of_strangers_silent});
  list.push_back({"empty-report-silent", "Does not answer a report without records.",
                  "observability.report", [] {
                    return with_calls({kReport}, [](Call& call, const Parts&) {
                      const auto records = call.get<BlockAllocationRecords>(2);
                      return records && records->empty() ? silence() : call.next();
                    });
                  }});
}

}  // namespace kvc::mutants
