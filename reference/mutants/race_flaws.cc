// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws that only concurrency shows. Each serves clients side by side, a thread a client, which is
// allowed; and each is right as long as one request is answered before the next is sent, by
// whomever. What is wrong is what happens between two clients' requests at the same time: the kinds
// of fault that a check-then-act, a shared buffer or a forgotten lock makes.
//
// They hold a request for a moment where another one could come between, so that who sends two at
// once meets them within some tries.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "mutants/flaw.h"
#include "mutants/shadow.h"

namespace kvc::mutants {
namespace {

constexpr std::chrono::milliseconds kMoment{2};
// Where who comes between must have got an answer first.
constexpr std::chrono::milliseconds kLongMoment{20};
constexpr std::size_t kNumThreads = 8;
constexpr const char* kProperty = "Concurrency.*";

// One client's requests keep their order: it has the same thread always.
void serve_side_by_side(const Parts& parts) {
  std::vector<RequestType> data{RequestType::kStore, RequestType::kRetrieve};
  std::vector<RequestType> others{RequestType::kLookup,
                                  RequestType::kQueryPrefetchStatus,
                                  RequestType::kQueryPrefetchLookupHits,
                                  RequestType::kFreeLookupLocks,
                                  RequestType::kEndSession,
                                  RequestType::kClear};
  if (!parts.handlers.add_affinity_thread_pool(data, kNumThreads) ||
      !parts.handlers.add_affinity_thread_pool(others, kNumThreads))
    std::abort();
}

Changes side_by_side(std::function<void(const Parts&)> flaw) {
  return {.handlers = [flaw = std::move(flaw)](const Parts& parts) {
    serve_side_by_side(parts);
    flaw(parts);
  }};
}

// Who is at work on what, by name.
class AtWork {
 public:
  // Answers whether somebody was at it already.
  bool begin(const std::string& what) {
    const std::lock_guard lock(mutex_);
    return ++counts_[what] > 1;
  }
  void end(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (--counts_[what] == 0) counts_.erase(what);
  }
  bool any() const {
    const std::lock_guard lock(mutex_);
    return !counts_.empty();
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> counts_;
};

// A number that rises, and who waits for it to.
class Bell {
 public:
  std::uint64_t heard() const {
    const std::lock_guard lock(mutex_);
    return num_rung_;
  }
  void ring() {
    {
      const std::lock_guard lock(mutex_);
      ++num_rung_;
    }
    rung_.notify_all();
  }
  // Whether it rang since `heard`, now or within a moment.
  bool rings_after(std::uint64_t heard) {
    std::unique_lock lock(mutex_);
    return rung_.wait_for(lock, kMoment, [&] { return num_rung_ > heard; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable rung_;
  std::uint64_t num_rung_ = 0;
};

// The first chunk's name and owner: equal for requests that touch the same objects.
std::string name_of(const Key& key, std::size_t chunk_size) {
  Key first = key;
  std::vector<Int> tokens = key.token_ids.to_vector();
  tokens.resize(std::min(tokens.size(), chunk_size));
  first.token_ids = IntArray::of(tokens);
  std::string name = key.model_name + "/" + key.cache_salt + "/";
  for (const ChunkHash& chunk : chunks_of(first, chunk_size))
    name.append(chunk.begin(), chunk.end());
  return name;
}

void give_back(Engine& engine, Key key) {
  key.start = Int(0);
  key.end = Int(key.token_ids.size());
  static_cast<void>(engine.free_lookup_locks(key, 1));
}

// Reads the answer, and takes it away a moment later.
void status_taken_twice(const Parts& parts) {
  around(parts.handlers, {RequestType::kQueryPrefetchStatus}, [parts](Call& call) {
    const auto request_id = call.get<std::string>(0);
    if (!request_id) return call.next();
    const OptionalInt seen = *parts.engine.query_prefetch_lookup_hits(*request_id);
    if (seen != OptionalInt(0)) std::this_thread::sleep_for(kMoment);
    call.next();
    return answer(seen);
  });
}

// The count of locks is read by one and written by the other: the LOOKUP's is lost.
void lookup_lost_to_a_free(const Parts& parts) {
  const auto bells = std::make_shared<std::map<std::string, Bell>>();
  const auto mutex = std::make_shared<std::mutex>();
  const auto bell_of = [bells, mutex, parts](const Key& key) -> Bell& {
    const std::lock_guard lock(*mutex);
    return (*bells)[name_of(key, parts.chunk_size)];
  };
  around(parts.handlers, {RequestType::kLookup}, [bell_of, parts](Call& call) {
    const auto key = call.get<Key>(0);
    if (!key) return call.next();
    Bell& frees = bell_of(*key);
    const std::uint64_t heard = frees.heard();
    Outcome outcome = call.next();
    if (frees.rings_after(heard)) give_back(parts.engine, *key);
    return outcome;
  });
  around(parts.handlers, {RequestType::kFreeLookupLocks}, [bell_of](Call& call) {
    const auto key = call.get<Key>(0);
    Outcome outcome = call.next();
    if (key) bell_of(*key).ring();
    return outcome;
  });
}

// A LOOKUP of what another is looking up joins it, and its lock.
void lookups_share_a_lock(const Parts& parts) {
  const auto at_work = std::make_shared<AtWork>();
  around(parts.handlers, {RequestType::kLookup}, [at_work, parts](Call& call) {
    const auto key = call.get<Key>(0);
    if (!key) return call.next();
    const std::string name = name_of(*key, parts.chunk_size);
    const bool joins = at_work->begin(name);
    Outcome outcome = call.next();
    if (joins)
      give_back(parts.engine, *key);
    else
      std::this_thread::sleep_for(kMoment);
    at_work->end(name);
    return outcome;
  });
}

// CLEAR tries the lock once, and goes on without.
void clear_skipped_when_busy(const Parts& parts) {
  const auto at_work = std::make_shared<AtWork>();
  around(parts.handlers, {RequestType::kLookup}, [at_work](Call& call) {
    at_work->begin("lookup");
    Outcome outcome = call.next();
    std::this_thread::sleep_for(kMoment);
    at_work->end("lookup");
    return outcome;
  });
  around(parts.handlers, {RequestType::kClear},
         [at_work](Call& call) { return at_work->any() ? answer_none() : call.next(); });
}

// Two RETRIEVEs of one request at the same time look at its lock before either has used it.
void one_lock_for_two(const Parts& parts) {
  const auto at_work = std::make_shared<AtWork>();
  around(parts.handlers, {RequestType::kRetrieve}, [at_work, parts](Call& call) {
    const auto key = call.get<Key>(0);
    if (!key) return call.next();
    const std::string name = name_of(*key, parts.chunk_size) + key->request_id;
    const bool second = at_work->begin(name);
    Outcome outcome = call.next();
    if (second && !transferred(outcome)) {
      static_cast<void>(parts.engine.lookup(*key, 1));
      static_cast<void>(parts.engine.query_prefetch_status(key->request_id));
      outcome = call.next();
    }
    if (!second) std::this_thread::sleep_for(kLongMoment);
    at_work->end(name);
    return outcome;
  });
}

// Visible when the client's event is complete, and filled a moment later.
void published_before_copied(Unit unit, Stream& stream) {
  if (!unit.stores()) return play(std::move(unit), stream);
  stream.begin_unit();
  if (unit.wait_for != nullptr) stream.wait(unit.wait_for);
  stream.host_function(unit.finish);
  stream.host_function([](bool) { std::this_thread::sleep_for(kLongMoment); });
  stream.copy(unit.space, unit.copies);
  stream.record(unit.done);
}

// All streams copy through one staging buffer, and nobody has it to himself.
Changes shared_staging() {
  struct Staging {
    std::mutex mutex;
    std::uint64_t next_user = 0;
    std::uint64_t user = 0;
    int num_inside = 0;
  };
  const auto staging = std::make_shared<Staging>();
  Changes changes = side_by_side([](const Parts&) {});
  changes.units = [staging](Unit unit, Stream& stream) {
    if (!unit.stores()) return play(std::move(unit), stream);
    const auto mine = std::make_shared<std::uint64_t>(0);
    stream.begin_unit();
    if (unit.wait_for != nullptr) stream.wait(unit.wait_for);
    stream.host_function([staging, mine](bool) {
      const std::lock_guard lock(staging->mutex);
      *mine = staging->user = ++staging->next_user;
    });
    stream.copy(unit.space, unit.copies);
    stream.host_function([staging, mine, copies = unit.copies, space = unit.space](bool) {
      std::this_thread::sleep_for(kMoment);
      const std::lock_guard lock(staging->mutex);
      if (staging->user == *mine) return;
      const std::size_t size = space->layout.chunk_bytes;
      for (const ChunkCopy& copy : copies)  // the other's bytes, from the middle on
        std::fill(copy.object + size / 2, copy.object + size, std::uint8_t{0xee});
    });
    stream.host_function(unit.finish);
    stream.record(unit.done);
  };
  return changes;
}

// Replies of two threads at the same time get each other's address.
Changes answers_crossed() {
  struct State {
    std::mutex mutex;
    std::condition_variable met;
    Reply* waiting = nullptr;
  };
  const auto state = std::make_shared<State>();
  Changes changes = side_by_side([](const Parts&) {});
  changes.reply = [state](Reply reply, bool sync, const std::function<void(Reply)>& next) {
    if (sync) return next(std::move(reply));
    std::unique_lock lock(state->mutex);
    if (state->waiting != nullptr) {
      std::swap(state->waiting->identity, reply.identity);
      state->waiting = nullptr;
      state->met.notify_all();
    } else {
      state->waiting = &reply;
      state->met.wait_for(lock, kMoment / 2, [&] { return state->waiting != &reply; });
      if (state->waiting == &reply) state->waiting = nullptr;
    }
    lock.unlock();
    next(std::move(reply));
  };
  return changes;
}

}  // namespace

void add_race_flaws(FlawList& list) {
  list.push_back({"race-status-taken-twice",
                  "Two clients that ask for a LOOKUP's status at once are both told.",
                  "query.exactly-once", [] { return side_by_side(status_taken_twice); },
                  kProperty});
  list.push_back({"race-lookup-lost-to-a-free",
                  "A LOOKUP during another request's FREE_LOOKUP_LOCKS ends up without its locks.",
                  "locks.free-own", [] { return side_by_side(lookup_lost_to_a_free); }, kProperty});
  list.push_back({"race-lookups-share-a-lock",
                  "Two LOOKUPs of the same chunks at once take one lock together.",
                  "locks.one-a-lookup", [] { return side_by_side(lookups_share_a_lock); },
                  kProperty});
  list.push_back({"race-clear-skipped-when-busy",
                  "A CLEAR while a LOOKUP runs is answered and drops nothing.", "clear.everything",
                  [] { return side_by_side(clear_skipped_when_busy); }, kProperty});
  list.push_back({"race-one-lock-for-two",
                  "Two RETRIEVEs of one request at once are both True by one lock.",
                  "retrieve.needs-lock", [] { return side_by_side(one_lock_for_two); }, kProperty});
  list.push_back({"race-published-before-copied",
                  "What is stored is found a moment before its bytes are there.",
                  "events.not-visible-before",
                  [] {
                    Changes changes = side_by_side([](const Parts&) {});
                    changes.units = published_before_copied;
                    return changes;
                  },
                  kProperty});
  list.push_back({"race-shared-staging", "Two instances' STOREs whose copies meet mix their bytes.",
                  "retrieve.exact", shared_staging, kProperty});
  list.push_back({"race-answers-crossed", "Two BLOCKING replies at once go to each other's client.",
                  "envelope.to-sender", answers_crossed});
}

}  // namespace kvc::mutants
