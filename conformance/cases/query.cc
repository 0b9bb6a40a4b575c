// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Query: how the answer of a LOOKUP is read: it waits under the request_id.
#include "conformance/cases/data_cases.h"
#include "conformance/harness/engine_player.h"

namespace kvc::conformance {
namespace {

const std::vector<Capability> kNeeds = {Capability::kDevice};
const std::vector<Capability> kNeedsHits = {Capability::kDevice, Capability::kLookupHits};

Key looked_up(EnginePlayer& player, std::size_t num_chunks) {
  const Tokens tokens = player.fresh_chunks(num_chunks);
  player.store_ok(player.key(tokens), player.blocks(0, num_chunks));
  Key key = player.key(tokens);
  key.worker_id = std::nullopt;
  player.client().call<None>(RequestType::kLookup, key, Int(1));
  return key;
}

OptionalInt hits(EnginePlayer& player, const std::string& request_id) {
  return player.client().call<OptionalInt>(RequestType::kQueryPrefetchLookupHits, request_id);
}

void exactly_once(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 3));
  const Key key = looked_up(player, 3);
  test.expect_equal(player.query(key.request_id), Int(3), "the first answer");
  for (int i = 0; i < 3; ++i)
    test.expect_equal(player.query(key.request_id), Int(0), "an answer after the first");
}

void pipelined(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 3));
  const Key key = looked_up(player, 3);
  std::vector<Sent> sent;
  sent.reserve(10);
  for (int i = 0; i < 10; ++i)
    sent.push_back(player.client().send_values(RequestType::kQueryPrefetchStatus, key.request_id));
  int num_threes = 0;
  for (const Sent& one : sent) {
    const auto answer = player.client().result<OptionalInt>(player.client().reply_to(one));
    if (!answer || *answer == Int(0)) continue;
    test.expect_equal(*answer, Int(3), "an answer that is not 0");
    ++num_threes;
  }
  test.expect_equal(Int(num_threes), Int(1), "answers other than 0 among ten");
}

void hits_do_not_consume(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 3));
  const Key key = looked_up(player, 3);
  for (int i = 0; i < 3; ++i) {
    const OptionalInt answer = hits(player, key.request_id);
    test.expect(answer == OptionalInt(Int(3)) || !answer,
                "QUERY_PREFETCH_LOOKUP_HITS answers 3, or None while it is not known",
                describe(Value(answer)));
  }
  test.expect_equal(player.query(key.request_id), Int(3),
                    "QUERY_PREFETCH_STATUS's result after them");
  test.expect_equal(hits(player, key.request_id), OptionalInt(Int(0)),
                    "QUERY_PREFETCH_LOOKUP_HITS's result after the answer was consumed");
}

void unknown_id(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 3));
  for (const std::string& id : {test.unique("never-asked"), std::string(), std::string(300, 'x')}) {
    const auto answer = player.client().call<OptionalInt>(RequestType::kQueryPrefetchStatus, id);
    test.expect_equal(answer, OptionalInt(Int(0)), "QUERY_PREFETCH_STATUS's result");
  }
}

void unknown_id_of_hits(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 3));
  test.expect_equal(hits(player, test.unique("never-asked")), OptionalInt(Int(0)),
                    "QUERY_PREFETCH_LOOKUP_HITS's result");
}

void ids_are_apart(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 3));
  const Key three = looked_up(player, 3);
  const Key one = looked_up(player, 1);
  const Key two = looked_up(player, 2);
  test.expect_equal(player.query(two.request_id), Int(2), "the second LOOKUP's answer");
  test.expect_equal(player.query(three.request_id), Int(3), "the first LOOKUP's answer");
  test.expect_equal(player.query(one.request_id), Int(1), "the third LOOKUP's answer");
}

void any_client(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 3));
  const Key key = looked_up(player, 2);
  Client other = test.client();
  OptionalInt answer;
  while (!(answer = other.call<OptionalInt>(RequestType::kQueryPrefetchStatus, key.request_id))) {
  }
  test.expect_equal(*answer, Int(2), "the answer that another client reads");
  test.expect_equal(player.query(key.request_id), Int(0), "the answer after that");
}

void again_answers_again(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 3));
  const Tokens tokens = player.fresh_chunks(3);
  const std::string id = test.unique("request");
  player.store_ok(player.key_of(tokens, 0, 1), player.blocks(0));
  test.expect_equal(player.lookup(player.key(tokens, id)), Int(1), "the first LOOKUP's answer");
  player.store_ok(player.key_of(tokens, 1, 3), player.blocks(0, 2));
  test.expect_equal(player.lookup(player.key(tokens, id)), Int(3), "the second LOOKUP's answer");
}

}  // namespace

void add_query_cases(CaseList& cases) {
  cases.add({"Query.StatusAnswersOnce",
             {"query.exactly-once"},
             "QUERY_PREFETCH_STATUS gives a LOOKUP's answer once, and then 0.",
             kNeeds,
             exactly_once});
  cases.add({"Query.StatusAnswersOnceInAPipeline",
             {"query.exactly-once"},
             "Of ten pipelined QUERY_PREFETCH_STATUS one gives the answer.",
             kNeeds,
             pipelined});
  cases.add({"Query.HitsDoNotConsume",
             {"query.hits"},
             "QUERY_PREFETCH_LOOKUP_HITS gives the answer and leaves it there.",
             kNeedsHits,
             hits_do_not_consume});
  cases.add({"Query.StatusOfUnknownIsZero",
             {"query.unknown"},
             "QUERY_PREFETCH_STATUS of an unknown request_id is 0.",
             kNeeds,
             unknown_id});
  cases.add({"Query.HitsOfUnknownAreZero",
             {"query.unknown"},
             "QUERY_PREFETCH_LOOKUP_HITS of an unknown request_id is 0.",
             kNeedsHits,
             unknown_id_of_hits});
  cases.add({"Query.RequestsAreApart",
             {"query.by-request-id"},
             "Each LOOKUP's answer waits under its own request_id, in any order.",
             kNeeds,
             ids_are_apart});
  cases.add({"Query.AnyClientReads",
             {"query.by-request-id"},
             "Another client reads the answer, and it is consumed for all.",
             kNeeds,
             any_client});
  cases.add({"Query.LookupAgainAnswersAgain",
             {"query.by-request-id"},
             "A second LOOKUP under the same request_id has an answer of its own.",
             kNeeds,
             again_answers_again});
}

}  // namespace kvc::conformance
