// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of LOOKUP and its two queries: what is counted, and who is told.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "mutants/flaw.h"
#include "mutants/shadow.h"

namespace kvc::mutants {
namespace {

constexpr auto kLookup = RequestType::kLookup;
constexpr auto kStatus = RequestType::kQueryPrefetchStatus;
constexpr auto kHits = RequestType::kQueryPrefetchLookupHits;

// Another answer to a query, of its request's last LOOKUP.
using Recount = std::function<Int(Int count, const Key& key, const Parts& parts)>;
Changes recounted(Recount recount) {
  return {.handlers = [recount = std::move(recount)](const Parts& parts) {
    const auto book = keys_of(parts, {kLookup});
    around(parts.handlers, {kStatus, kHits}, [book, parts, recount](Call& call) {
      const auto request_id = call.get<std::string>(0);
      const auto key = request_id ? book->of_request(*request_id) : std::nullopt;
      // Asked before the answer is taken.
      const bool pending = request_id && *parts.engine.query_prefetch_lookup_hits(*request_id);
      Outcome outcome = call.next();
      const auto count = result_of<OptionalInt>(outcome);
      if (!key || !pending || !count || !*count) return outcome;
      return answer(OptionalInt(recount(**count, *key, parts)));
    });
  }};
}

Int tokens_for_chunks(Int count, const Key&, const Parts& parts) {
  return Int(count.bits() * parts.chunk_size);
}

Int objects_for_chunks(Int count, const Key& key, const Parts&) {
  return key.worker_id ? count : Int(count.bits() * key.world_size.bits());
}

Int all_that_are_there(Int count, const Key& key, const Parts& parts) {
  std::uint64_t num_there = 0;
  for (const ObjectKey& object : objects_of(key, parts.chunk_size))
    num_there += parts.engine.objects().readable(object) ? 1U : 0U;
  return std::max(count, Int(num_there));
}

Int with_the_tail(Int count, const Key& key, const Parts& parts) {
  const std::size_t num_chunks = key.token_ids.size() / parts.chunk_size;
  const bool has_tail = key.token_ids.size() % parts.chunk_size != 0;
  return count == Int(num_chunks) && num_chunks > 0 && has_tail ? Int(num_chunks + 1) : count;
}

Int ten_at_most(Int count, const Key&, const Parts&) { return std::min(count, Int(10)); }

// LOOKUP of (model, world_size) that nobody has registered, and yet.
Changes registration_not_asked() {
  return {.handlers = [](const Parts& parts) {
    const auto counts = std::make_shared<std::map<std::string, std::uint64_t>>();
    const auto mutex = std::make_shared<std::mutex>();
    around(parts.handlers, {kLookup}, [counts, mutex, parts](Call& call) {
      const auto key = call.get<Key>(0);
      std::uint64_t num_there = 0;
      if (key)
        for (const ObjectKey& object : objects_of(*key, parts.chunk_size)) {
          if (!parts.engine.objects().readable(object)) break;
          ++num_there;
        }
      Outcome outcome = call.next();
      if (key && outcome.reply &&
          *parts.engine.query_prefetch_lookup_hits(key->request_id) == OptionalInt(0)) {
        const std::lock_guard lock(*mutex);
        (*counts)[key->request_id] = num_there;
      }
      return outcome;
    });
    around(parts.handlers, {kStatus}, [counts, mutex](Call& call) {
      const auto request_id = call.get<std::string>(0);
      Outcome outcome = call.next();
      const std::lock_guard lock(*mutex);
      const auto entry = request_id ? counts->find(*request_id) : counts->end();
      if (entry == counts->end()) return outcome;
      const std::uint64_t count = entry->second;
      counts->erase(entry);
      return result_of<OptionalInt>(outcome) == OptionalInt(0) ? answer(OptionalInt(count))
                                                               : outcome;
    });
  }};
}

// The answer of the last LOOKUP, whoever asks.
Changes one_slot_for_all() {
  return {.handlers = [](const Parts& parts) {
    const auto last = std::make_shared<std::string>();
    const auto mutex = std::make_shared<std::mutex>();
    around(parts.handlers, {kLookup}, [last, mutex](Call& call) {
      const auto key = call.get<Key>(0);
      Outcome outcome = call.next();
      const std::lock_guard lock(*mutex);
      if (key) *last = key->request_id;
      return outcome;
    });
    around(parts.handlers, {kStatus}, [last, mutex](Call& call) {
      const std::lock_guard lock(*mutex);
      call.change<std::string>(0, [&](std::string& request_id) {
        if (!last->empty()) request_id = *last;
      });
      return call.next();
    });
  }};
}

void cut_to_end(Key& key) {
  std::vector<Int> tokens = key.token_ids.to_vector();
  const auto end = key.end.as_u64();
  if (end && *end < tokens.size()) tokens.resize(*end);
  key.token_ids = IntArray::of(tokens);
}

}  // namespace

void add_lookup_flaws(FlawList& list) {
  list.push_back({"lookup-counts-tokens", "A LOOKUP's answer counts tokens.",
                  "lookup.counts-chunks", [] { return recounted(tokens_for_chunks); }});
  list.push_back({"lookup-counts-objects", "A LOOKUP's answer counts the objects of all workers.",
                  "lookup.all-workers", [] { return recounted(objects_for_chunks); }});
  list.push_back({"lookup-counts-behind-gaps", "A LOOKUP counts all chunks that are there.",
                  "lookup.leading-run", [] { return recounted(all_that_are_there); }});
  list.push_back({"lookup-counts-the-tail", "A LOOKUP counts a tail that is no chunk.",
                  "chunk.full-only", [] { return recounted(with_the_tail); }});
  list.push_back({"lookup-counts-to-ten", "A LOOKUP never finds more than ten chunks.",
                  "lookup.counts-chunks", [] { return recounted(ten_at_most); }});
  list.push_back({"lookup-ends-at-end", "LOOKUP looks at the tokens before the key's end only.",
                  "lookup.ignores-range", [] { return with_keys({kLookup}, cut_to_end); }});
  list.push_back({"lookup-of-worker-0", "LOOKUP without worker_id looks at worker 0's objects.",
                  "lookup.all-workers", [] {
                    return with_keys({kLookup}, [](Key& key) {
                      if (!key.worker_id) key.worker_id = Int(0);
                    });
                  }});
  list.push_back({"lookup-of-all-workers", "LOOKUP with a worker_id looks at all workers' objects.",
                  "lookup.one-worker",
                  [] { return with_keys({kLookup}, [](Key& key) { key.worker_id.reset(); }); }});
  list.push_back({"lookup-of-strangers", "LOOKUP finds chunks of a model that is not registered.",
                  "lookup.unregistered-model", registration_not_asked});
  list.push_back({"status-not-consumed", "QUERY_PREFETCH_STATUS answers as often as it is asked.",
                  "query.exactly-once", [] {
                    return with_calls({kStatus}, [](Call& call, const Parts& parts) {
                      const auto request_id = call.get<std::string>(0);
                      if (!request_id) return call.next();
                      return answer(*parts.engine.query_prefetch_lookup_hits(*request_id));
                    });
                  }});
  list.push_back(
      {"hits-consume", "QUERY_PREFETCH_LOOKUP_HITS takes the answer away.", "query.hits", [] {
         return with_calls({kHits}, [](Call& call, const Parts& parts) {
           const auto request_id = call.get<std::string>(0);
           if (!request_id) return call.next();
           return answer(*parts.engine.query_prefetch_status(*request_id));
         });
       }});
  list.push_back({"unknown-query-is-none", "A query of an unknown request_id answers None.",
                  "query.unknown", [] {
                    return with_calls({kStatus, kHits}, [](Call& call, const Parts&) {
                      Outcome outcome = call.next();
                      return result_of<OptionalInt>(outcome) == OptionalInt(0) ? answer_none()
                                                                               : outcome;
                    });
                  }});
  list.push_back({"one-answer-at-a-time", "QUERY_PREFETCH_STATUS answers for the last LOOKUP.",
                  "query.by-request-id", one_slot_for_all});
}

}  // namespace kvc::mutants
