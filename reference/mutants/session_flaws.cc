// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Flaws of sessions: what a request_id stands for, and END_SESSION.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "mutants/flaw.h"
#include "mutants/shadow.h"

namespace kvc::mutants {
namespace {

constexpr auto kEnd = RequestType::kEndSession;
constexpr auto kLookup = RequestType::kLookup;

// The first tokens that came with a request_id, as 0.4.5 keeps their hashes: of a later message
// only what is beyond them counts.
Changes tokens_kept(std::initializer_list<RequestType> types, bool forgotten_at_end) {
  struct State {
    std::mutex mutex;
    std::map<std::string, std::vector<Int>> tokens;
  };
  return {
      .handlers = [types = std::vector<RequestType>(types), forgotten_at_end](const Parts& parts) {
        const auto state = std::make_shared<State>();
        for (const RequestType type : types)
          around(parts.handlers, {type}, [state](Call& call) {
            call.change<Key>(0, [&](Key& key) {
              const std::lock_guard lock(state->mutex);
              std::vector<Int> tokens = key.token_ids.to_vector();
              std::vector<Int>& kept = state->tokens[key.request_id];
              const std::size_t num_kept = std::min(kept.size(), tokens.size());
              std::copy_n(kept.begin(), num_kept, tokens.begin());
              if (kept.size() < tokens.size()) kept = tokens;
              key.token_ids = IntArray::of(tokens);
            });
            return call.next();
          });
        around(parts.handlers, {kEnd}, [state, forgotten_at_end](Call& call) {
          if (const auto request_id = call.get<std::string>(0); request_id && forgotten_at_end) {
            const std::lock_guard lock(state->mutex);
            state->tokens.erase(*request_id);
          }
          return call.next();
        });
      }};
}

Changes unknown_is_silent() {
  return {.handlers = [](const Parts& parts) {
    const auto known = keys_of(parts, {kLookup, RequestType::kStore});
    around(parts.handlers, {kEnd}, [known](Call& call) {
      const auto request_id = call.get<std::string>(0);
      Outcome outcome = call.next();
      return request_id && known->take_request(*request_id).empty() ? silence() : outcome;
    });
  }};
}

Changes end_releases_locks() {
  return {.handlers = [](const Parts& parts) {
    const auto lookups = keys_of(parts, {kLookup});
    around(parts.handlers, {kEnd}, [lookups, parts](Call& call) {
      if (const auto request_id = call.get<std::string>(0))
        for (Key key : lookups->take_request(*request_id)) {
          key.start = Int(0);
          key.end = Int(key.token_ids.size());
          static_cast<void>(parts.engine.free_lookup_locks(key, 128));
        }
      return call.next();
    });
  }};
}

Changes end_ends_another() {
  return {.handlers = [](const Parts& parts) {
    const auto lookups = keys_of(parts, {kLookup});
    around(parts.handlers, {kEnd}, [lookups](Call& call) {
      call.change<std::string>(0, [&](std::string& request_id) {
        for (const Key& key : lookups->all())
          if (key.request_id != request_id) {
            request_id = key.request_id;
            return;
          }
      });
      return call.next();
    });
  }};
}

// What has ended is gone for ever.
Changes ids_used_once() {
  struct State {
    std::mutex mutex;
    std::set<std::string> ended;
  };
  return {.handlers = [](const Parts& parts) {
    const auto state = std::make_shared<State>();
    around(parts.handlers, {kEnd}, [state](Call& call) {
      const std::lock_guard lock(state->mutex);
      if (const auto request_id = call.get<std::string>(0)) state->ended.insert(*request_id);
      return call.next();
    });
    around(parts.handlers, {kLookup}, [state](Call& call) {
      const std::lock_guard lock(state->mutex);
      const auto key = call.get<Key>(0);
      return key && state->ended.contains(key->request_id) ? answer_none() : call.next();
    });
  }};
}

Changes end_drops_objects() {
  return {.handlers = [](const Parts& parts) {
    const auto lookups = keys_of(parts, {kLookup});
    around(parts.handlers, {kEnd}, [lookups, parts](Call& call) {
      if (const auto request_id = call.get<std::string>(0))
        for (const Key& key : lookups->take_request(*request_id))
          forget(parts.engine.objects(), objects_of(key, parts.chunk_size));
      return call.next();
    });
  }};
}

}  // namespace

void add_session_flaws(FlawList& list) {
  list.push_back(
      {"stores-old-tokens", "STORE goes by the tokens that its request_id came with first.",
       "session.tokens-of-the-message", [] { return tokens_kept({RequestType::kStore}, true); }});
  list.push_back({"retrieves-old-tokens",
                  "RETRIEVE goes by the tokens that its request_id came with first.",
                  "session.tokens-of-the-message",
                  [] { return tokens_kept({RequestType::kRetrieve}, true); }});
  list.push_back({"looks-old-tokens-up",
                  "LOOKUP goes by the tokens that its request_id came with first.",
                  "session.tokens-of-the-message", [] { return tokens_kept({kLookup}, true); }});
  list.push_back({"ended-ids-are-dead", "A request_id that has ended finds nothing any more.",
                  "session.end-forgets", ids_used_once});
  list.push_back({"end-of-unknown-silent", "Does not answer END_SESSION of an unknown request_id.",
                  "session.end-answers", unknown_is_silent});
  list.push_back({"end-releases-locks", "END_SESSION releases the locks of its LOOKUP.",
                  "session.end-keeps-locks", end_releases_locks});
  list.push_back(
      {"end-does-nothing", "END_SESSION is answered and does nothing.", "session.end-touches",
       [] { return with_calls({kEnd}, [](Call&, const Parts&) { return answer_none(); }); }});
  list.push_back({"end-ends-another", "END_SESSION ends the session of another request_id.",
                  "session.end-touches", end_ends_another});
  list.push_back({"end-drops-objects", "END_SESSION drops what its request looked up.",
                  "session.end-keeps-locks", end_drops_objects});
}

}  // namespace kvc::mutants
