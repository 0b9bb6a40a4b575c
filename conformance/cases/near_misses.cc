// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Near misses: what is nearly right and is to be refused, and what is nearly equal and is to be
// told apart. A value that is far from right is refused by a careless server too.
#include "conformance/cases/near_misses.h"

#include <algorithm>

#include "conformance/cases/layout_support.h"
#include "conformance/cases/refusals.h"
#include "conformance/cases/stage.h"
#include "conformance/harness/pickle_builder.h"

namespace kvc::conformance {
namespace {

const std::vector<Capability> kNeeds = {Capability::kDevice};

// All eight values, in the order in which the real encoder writes the fields, without their names.
void key_without_names(Case& test) {
  Stage stage(test);
  Client client = test.client();
  std::vector<Bytes> values;
  for (const Field& field : stage.fields(RequestType::kLookup, 0)) values.push_back(field.valid);
  client.expect_silence(client.send(RequestType::kLookup, {msg::array(values), msg::integer(1)}),
                        "a LOOKUP whose Key is an array of the right values in the right order");
}

void tensor_in_another_ext(Case& test) {
  Stage stage(test);
  Client client = test.client();
  const Bytes pickle = pkl::wrapper(stage.tensor());
  for (const std::int8_t code : std::initializer_list<std::int8_t>{0, 2, -1, 127}) {
    test.step("code " + std::to_string(code));
    const std::uint64_t id = stage.new_instance_id();
    Frames frames = stage.registration_of(pickle, id);
    frames[1] = msg::array({msg::ext(code, pickle)});
    client.expect_silence(client.send(RequestType::kRegisterKvCache, frames),
                          "a REGISTER_KV_CACHE with a good tensor in an Ext of another code");
    expect_no_success(test, client, {client.send(RequestType::kStore, stage.store_of(id))},
                      "a STORE for an instance whose REGISTER was refused");
  }
}

// Stores `tokens` and expects that none of the others is found.
void expect_told_apart(EnginePlayer& player, const Tokens& tokens,
                       const std::vector<std::pair<std::string, Tokens>>& others) {
  player.store_ok(player.key(tokens), player.blocks(0, tokens.size() / player.chunk_size()));
  for (const auto& [what, other] : others) player.expect_lookup(other, Int(0), what);
  player.expect_lookup(tokens, Int(tokens.size() / player.chunk_size()), "of what was stored");
}

void order_of_tokens(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 2));
  const Tokens tokens = player.fresh_chunks(1);
  Tokens reversed(tokens.rbegin(), tokens.rend());
  Tokens last_two = tokens;
  std::swap(last_two[last_two.size() - 1], last_two[last_two.size() - 2]);
  Tokens rotated = tokens;
  std::rotate(rotated.begin(), rotated.begin() + 1, rotated.end());
  // Random tokens that happen to be equal are in any order.
  if (last_two == tokens) ++last_two.back();
  expect_told_apart(player, tokens,
                    {{"of the chunk's tokens in reverse", reversed},
                     {"of the chunk with its last two tokens swapped", last_two},
                     {"of the chunk with its first token at the end", rotated}});
}

void every_token_counts(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 2));
  const Tokens tokens = player.fresh_chunks(1);
  std::vector<std::pair<std::string, Tokens>> others;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Tokens other = tokens;
    other[i] ^= 1U;
    others.emplace_back("of the chunk with another token " + std::to_string(i), std::move(other));
  }
  expect_told_apart(player, tokens, others);
}

void every_bit_counts(Case& test) {
  EnginePlayer player = registered_player(test, tiny_shape(test, 2));
  const Tokens tokens = player.fresh_chunks(1);
  std::vector<std::pair<std::string, Tokens>> others;
  for (unsigned bit = 0; bit < 32; ++bit) {
    Tokens other = tokens;
    other.back() ^= 1U << bit;
    others.emplace_back(
        "of the chunk with bit " + std::to_string(bit) + " of its last token flipped",
        std::move(other));
  }
  expect_told_apart(player, tokens, others);
}

// As many heads as slots: the two kinds of block have the same sizes, and only the hint differs. A
// server may keep the objects of the two apart; it must not give the one the other's order.
void hnd_and_nhd(Case& test) {
  EngineShape shape = layout_shape(test, KvFormat::kNlXTwoNbBsNhHs);
  shape.num_heads = shape.block_size;
  shape.head_size = 2;
  EnginePlayer writer = registered_player(test, shape);
  shape.format = KvFormat::kNlXTwoNbNhBsHs;
  EnginePlayer reader(test, shape, writer.model_name());
  reader.client().fence();
  reader.send_register(reader.kv_cache(), reader.engine_type(), reader.hints());
  reader.client().fence();

  const Tokens tokens = writer.fresh_chunks(1);
  const Contents written = writer.fill(writer.blocks(0), test.random()());
  writer.store_ok(writer.key(tokens), writer.blocks(0));
  const Key key = reader.key(tokens);
  writer.lookup(key);
  reader.fill_all(0x5a);
  const MemoryImage before = reader.image();
  // Behind it on the same client, so that it is answered, or is not, before the next.
  const Sent sent =
      writer.send_retrieve(key, reader.instance_id(), reader.blocks(0), reader.ready_event());
  const std::optional<TransferResult> outcome = writer.outcome(sent);
  if (outcome && outcome->ok) {
    writer.wait_done(outcome->event_handle);
    // Its RETRIEVE runs on the reader's stream.
    reader.wait_event(outcome->event_handle);
    reader.expect_contents(reader.blocks(0), written, "each token's bytes, in HND's order");
  } else {
    reader.expect_image(before, "the buffers of an instance that was not served");
  }
}

}  // namespace

void add_near_miss_cases(CaseList& cases) {
  cases.add({"Typing.KeyIsNoArrayOfItsValues",
             {"typing.key", "typing.refusal-is-silent"},
             "A Key's eight values in their order, in an array, are no Key.",
             kNeeds,
             key_without_names});
  cases.add({"Typing.TensorInAnotherExtIsNone",
             {"typing.kv-cache", "typing.refusal-is-silent"},
             "A good tensor's pickle in an Ext of another code registers nothing.",
             kNeeds,
             tensor_in_another_ext});
  cases.add({"Lookup.OrderOfTokensCounts",
             {"chunk.hash-chain"},
             "A chunk's tokens in another order are another chunk.",
             kNeeds,
             order_of_tokens});
  cases.add({"Lookup.EveryTokenCounts",
             {"chunk.hash-chain"},
             "A chunk that differs in any one token is another chunk.",
             kNeeds,
             every_token_counts});
  cases.add({"Lookup.EveryBitOfATokenCounts",
             {"chunk.tokens-u32", "chunk.hash-chain"},
             "Tokens that differ in any one of their 32 bits are different tokens.",
             kNeeds,
             every_bit_counts});
  cases.add(
      {"Layout.HndAndNhdAreToldApart",
       {"layout.hnd-nhd", "registration.one-layout"},
       "With as many heads as slots in a block, an HND instance that retrieves what an NHD "
       "instance of the same model stored gets each token's bytes in HND's order, or nothing.",
       kNeeds,
       hnd_and_nhd});
}

}  // namespace kvc::conformance
