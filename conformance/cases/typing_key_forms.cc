// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Typing: a Key in any of its odd forms is the same key: what was stored under the plain form is
// found and freed under all the others.
#include <fmt/format.h>

#include "conformance/cases/lists.h"
#include "conformance/cases/refusals.h"
#include "conformance/cases/stage.h"
#include "conformance/cases/typing.h"

namespace kvc::conformance {
namespace {

// The answer to QUERY_PREFETCH_STATUS, asked until there is one.
Int status(Case& test, Client& client, const Frames& query) {
  for (int i = 0; i < 10000; ++i) {
    const auto found = client.result<OptionalInt>(
        client.reply_to(client.send(RequestType::kQueryPrefetchStatus, query)));
    if (found) return *found;
  }
  test.wrong("a status after 10000 questions", "None each time");
}

Int chunks_found(Case& test, Client& client, Stage& stage, const Bytes& key) {
  client.reply_to(client.send(RequestType::kLookup, {key, msg::integer(1)}));
  return status(test, client, stage.valid(RequestType::kQueryPrefetchStatus));
}

void odd_keys_are_the_same_key(Case& test) {
  Stage stage(test);
  Client client = test.client();
  const std::vector<Field> fields = stage.fields(RequestType::kStore, 0);
  const Frames store = stage.valid(RequestType::kStore);
  const Bytes& plain = store[0];
  const auto free_locks = [&](const Bytes& key) {
    client.reply_to(client.send(RequestType::kFreeLookupLocks, {key, msg::integer(1)}));
  };
  const auto stored =
      client.result<TransferResult>(client.reply_to(client.send(RequestType::kStore, store)));
  test.expect(stored.ok, "True for the STORE", "False");

  // The copy is done behind the reply: the plain form tells when.
  Int found = 0;
  for (int i = 0; i < 10000 && found == Int(0); ++i)
    found = chunks_found(test, client, stage, plain);
  test.expect_equal(found, Int(1), "chunks found under the plain key");
  free_locks(plain);

  std::vector<Bytes> forms = odd_forms(WireType::kKey, fields);
  for (Bytes& form : msg::other_encodings(plain)) forms.push_back(std::move(form));
  for (const Bytes& form : forms) {
    test.step("the key as " + words(form));
    test.expect_equal(chunks_found(test, client, stage, form), Int(1), "chunks found");
    free_locks(form);
  }
}

}  // namespace

void add_typing_key_form_cases(CaseList& list, const Registry&) {
  list.add({.id = "Typing.OddKeysFindTheSameChunks",
            .proves = {"typing.key", "typing.map-forms", "typing.any-encoding"},
            .claim = "A chunk stored under a plain Key is found under the same Key without "
                     "cache_salt, shuffled, with repeated or unknown fields, or encoded longer.",
            .needs = {Capability::kDevice},
            .body = odd_keys_are_the_same_key});
}

}  // namespace kvc::conformance
