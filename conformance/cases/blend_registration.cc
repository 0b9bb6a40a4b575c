// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Blend, registration: CB_REGISTER_KV_CACHE takes exactly one tensor [2, layers, tokens, hidden].
// Its result is None, so a refusal is silence, and nothing of the instance is there afterwards.
#include <functional>

#include "conformance/cases/blend_cases.h"
#include "conformance/harness/blend_player.h"
#include "kvc/device/export_tensor.h"

namespace kvc::conformance {
namespace {

// Stores a document from `player`'s buffer, finds it, and retrieves it to another place.
void expect_serves(Case& test, BlendPlayer& player, const std::string& what) {
  const std::size_t chunk = player.chunk_size();
  player.fill(test.random()());
  const Bytes contents = player.chunk_at(1);
  const Tokens document = player.document(1);
  player.store_ok(player.key(document), 1, "CB_STORE_PRE_COMPUTED of " + what);
  const Key key = player.key(document);
  const CBMatchResults matches = player.expect_matches(key, {{0, 0}}, "of " + what);
  player.fill(test.random()());
  const Bytes before = player.image();
  player.retrieve_ok(key, matches, Int(chunk + 2));
  player.expect_image(player.with(before, chunk + 2, contents), what);
}

// The new buffer has another length, so that old arithmetic shows in the bytes.
void second_replaces(Case& test) {
  BlendPlayer first = registered_blend_player(test, 3);
  expect_serves(test, first, "the first registration");
  BlendPlayer second(test, blend_shape(test, 5), first.model_name());
  second.set_instance_id(first.instance_id());
  second.register_buffer();
  first.stamp(0x11);
  const Bytes of_first = first.image();
  expect_serves(test, second, "the second registration of the same instance_id");
  first.expect_image(of_first, "the buffer that was replaced");
}

void second_moves_to_its_model(Case& test) {
  BlendPlayer first = registered_blend_player(test, 3);
  const Tokens document = first.document(1);
  first.store_ok(first.key(document));
  first.expect_matches(first.key(document), {{0, 0}}, "of the first model");
  BlendPlayer second(test, blend_shape(test, 3), test.unique("blend"));
  second.set_instance_id(first.instance_id());
  second.register_buffer();
  expect_serves(test, second, "the second model");
  second.expect_matches(first.key(document), {},
                        "of the first model, for which no buffer is registered any more");
}

void unregister_forgets(Case& test) {
  BlendPlayer witness = registered_blend_player(test, 3);
  BlendPlayer player(test, blend_shape(test, 3), witness.model_name());
  player.register_buffer();
  expect_serves(test, player, "an instance");
  player.unregister_buffer();
  player.unregister_buffer();  // twice, and it is answered
  const Tokens document = player.document(1);
  witness.expect_never_true(
      witness.send_store(player.key(document), 0, player.instance_id(), player.ready_event()),
      "CB_STORE_PRE_COMPUTED of an instance that was unregistered");
  witness.expect_matches(witness.key(document), {}, "after the store that was refused");
  expect_serves(test, witness, "another instance");
  player.register_buffer();
  expect_serves(test, player, "the instance when it is registered again");
}

// One process is often one instance of both kinds.
void ids_of_both_kinds(Case& test) {
  BlendPlayer player(test, blend_shape(test, 3), test.unique("blend"));
  EnginePlayer paged = paged_twin(test, player, 4);
  player.set_instance_id(paged.instance_id());
  player.register_buffer();
  expect_serves(test, player, "a blend instance with the id of a paged one");
  const auto paged_serves = [&](const std::string& what) {
    const Tokens tokens = paged.fresh_chunks(2);
    const Contents contents = paged.fill(paged.blocks(0, 2), test.random()());
    paged.store_ok(paged.key(tokens), paged.blocks(0, 2), "STORE of " + what);
    const Key key = paged.key(tokens);
    test.expect_equal(paged.lookup(key), Int(2), "chunks found by LOOKUP");
    paged.retrieve_ok(key, paged.blocks(2, 2));
    paged.expect_contents(paged.blocks(2, 2), contents, what);
  };
  paged_serves("a paged instance with the id of a blend one");
  player.unregister_buffer();
  paged_serves("the paged instance when the blend one is gone");
}

struct Refusal {
  std::string id;
  std::string claim;  // "CB_REGISTER_KV_CACHE with … "
  std::function<void(Case&, KVCache&)> spoil;
};

void reshape(IpcTensor& tensor, const std::vector<std::int64_t>& shape) {
  tensor.shape.assign(shape.begin(), shape.end());
  const std::vector<std::int64_t> stride = contiguous_stride(shape);
  tensor.stride.assign(stride.begin(), stride.end());
}

std::vector<std::int64_t> shape_of(const IpcTensor& tensor) {
  std::vector<std::int64_t> shape;
  for (const Int size : tensor.shape) shape.push_back(size.as_i64().value_or(0));
  return shape;
}

std::vector<Refusal> refusals() {
  return {
      {"NoTensor", "no tensor", [](Case&, KVCache& cache) { cache.clear(); }},
      {"TwoTensors", "two tensors", [](Case&, KVCache& cache) { cache.push_back(cache.front()); }},
      {"ThreeDimensions", "a tensor [2 * layers, tokens, hidden]",
       [](Case&, KVCache& cache) {
         const auto shape = shape_of(cache.front());
         reshape(cache.front(), {shape[0] * shape[1], shape[2], shape[3]});
       }},
      {"FiveDimensions", "a tensor [2, layers, tokens, heads, hidden]",
       [](Case&, KVCache& cache) {
         auto shape = shape_of(cache.front());
         shape.back() /= 2;
         shape.insert(shape.begin() + 3, 2);
         reshape(cache.front(), shape);
       }},
      {"NeitherKeysNorValues", "a tensor [1, 2 * layers, tokens, hidden]",
       [](Case&, KVCache& cache) {
         const auto shape = shape_of(cache.front());
         reshape(cache.front(), {1, 2 * shape[1], shape[2], shape[3]});
       }},
      {"FourHalves", "a tensor [4, layers / 2, tokens, hidden]",
       [](Case&, KVCache& cache) {
         const auto shape = shape_of(cache.front());
         reshape(cache.front(), {4, shape[1] / 2, shape[2], shape[3]});
       }},
      {"MoreThanItsMemory", "a tensor that is longer than its memory",
       [](Case&, KVCache& cache) {
         auto shape = shape_of(cache.front());
         shape[1] += 1;
         reshape(cache.front(), shape);
       }},
      {"UnknownDevice", "the UUID of a device that is not there",
       [](Case&, KVCache& cache) {
         cache.front().device_uuid = "GPU-00000000-0000-0000-0000-000000000000";
       }},
      {"UnknownHandle", "the handle of memory that is not there",
       [](Case&, KVCache& cache) {
         Bytes& handle = std::get<TorchIpcHandle>(cache.front().handle).handle;
         handle[handle.size() - 40] = 'x';
         for (std::size_t i = handle.size() - 39; i < handle.size(); ++i) handle[i] = 0;
       }},
  };
}

void expect_refused(Case& test, const Refusal& refusal) {
  BlendPlayer witness = registered_blend_player(test, 3);
  BlendPlayer player(test, blend_shape(test, 3), witness.model_name());
  KVCache spoilt = player.kv_cache();
  refusal.spoil(test, spoilt);
  const Sent sent = player.send_register(spoilt);
  player.client().expect_silence(sent, "CB_REGISTER_KV_CACHE with " + refusal.claim);
  const Tokens document = player.document(1);
  witness.expect_never_true(
      witness.send_store(player.key(document), 0, player.instance_id(), player.ready_event()),
      "CB_STORE_PRE_COMPUTED of the instance that was refused");
  witness.expect_matches(witness.key(document), {}, "after it");

  test.step("the right CB_REGISTER_KV_CACHE after the refusal");
  player.register_buffer();
  expect_serves(test, player, "the right registration");
  test.step("the refused one on top of the right one");
  const Sent again = player.send_register(spoilt);
  player.client().expect_silence(again, "CB_REGISTER_KV_CACHE with " + refusal.claim);
  expect_serves(test, player, "the registration before the refused one");
}

}  // namespace

void add_blend_registration_cases(CaseList& cases) {
  cases.add({"Blend.SecondRegistrationReplaces",
             {"blend.register-replaces"},
             "A second CB_REGISTER_KV_CACHE of an instance_id replaces the first.",
             kBlendV2Needs,
             second_replaces});
  cases.add({"Blend.SecondRegistrationMovesTheModel",
             {"blend.register-replaces", "blend.no-buffer"},
             "A second registration under another model leaves the first model without a buffer.",
             kBlendV2Needs,
             second_moves_to_its_model});
  cases.add({"Blend.UnregisterForgets",
             {"blend.unregister"},
             "CB_UNREGISTER_KV_CACHE forgets the instance, is answered twice, and no other goes.",
             kBlendV2Needs,
             unregister_forgets});
  cases.add({"Blend.IdsOfBothKinds",
             {"blend.ids"},
             "One instance_id can be registered as paged and as blend; each is its own.",
             kBlendV2Needs,
             ids_of_both_kinds});
  for (const Refusal& refusal : refusals())
    cases.add({"Blend.Refuses" + refusal.id,
               {"blend.one-tensor"},
               "CB_REGISTER_KV_CACHE with " + refusal.claim + " is refused.",
               kBlendV2Needs,
               [refusal](Case& test) { expect_refused(test, refusal); }});
}

}  // namespace kvc::conformance
