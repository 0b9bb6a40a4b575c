// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Registration: what REGISTER_KV_CACHE and UNREGISTER_KV_CACHE make of instances.
#include "conformance/cases/data_cases.h"
#include "conformance/cases/expect_serves.h"
#include "conformance/harness/engine_player.h"
#include "kvc/device/host_device.h"

namespace kvc::conformance {
namespace {

const std::vector<Capability> kNeeds = {Capability::kDevice};

void second_is_ignored(Case& test) {
  EnginePlayer first = registered_player(test, small_shape(test, 3));
  EnginePlayer second(test, small_shape(test, 3), first.model_name());
  first.client().result<None>(first.client().reply_to(
      first.send_register(second.kv_cache(), second.engine_type(), second.hints())));

  second.fill_all(0x5a);
  const MemoryImage untouched = second.image();
  expect_serves(test, first, "after a second REGISTER of the instance");
  second.expect_image(untouched, "the second registration's buffers are not used");
}

void second_of_other_model_is_ignored(Case& test) {
  EnginePlayer first = registered_player(test, small_shape(test, 3));
  const std::string other = test.unique("other-model");
  first.client().call<None>(RequestType::kRegisterKvCache, first.instance_id(), first.kv_cache(),
                            other, Int(1), first.engine_type(), first.hints());
  // Stored under the other model's name: no instance has registered that.
  Key key = first.key(first.fresh_chunks(1));
  key.model_name = other;
  first.store(key, first.blocks(0));
  test.expect_equal(first.lookup(key), Int(0), "chunks found by LOOKUP of the second name");
  expect_serves(test, first, "after a second REGISTER under another model");
}

void unregister_unknown(Case& test) {
  EnginePlayer player(test, small_shape(test, 3), test.unique("model"));
  player.unregister_kv_cache();
  player.unregister_kv_cache();
  player.register_kv_cache();
  expect_serves(test, player, "after UNREGISTER of the unknown instance");
  player.unregister_kv_cache();
  player.unregister_kv_cache();
}

void unregister_ends_the_instance(Case& test) {
  EnginePlayer witness = registered_player(test, small_shape(test, 3));
  EnginePlayer player = registered_player(test, small_shape(test, 3));
  const Tokens tokens = player.fresh_chunks(1);
  player.unregister_kv_cache();
  witness.expect_never_true(witness.send_store(player.key(tokens), player.instance_id(),
                                               player.blocks(0), player.ready_event()),
                            "STORE after UNREGISTER");
  test.expect_equal(player.lookup(tokens), Int(0), "chunks found by LOOKUP after UNREGISTER");
}

void again_uses_the_new_buffers(Case& test) {
  EnginePlayer first = registered_player(test, small_shape(test, 3));
  expect_serves(test, first, "before UNREGISTER");
  first.unregister_kv_cache();
  EnginePlayer second(test, small_shape(test, 3), first.model_name());
  first.client().result<None>(first.client().reply_to(
      first.send_register(second.kv_cache(), second.engine_type(), second.hints())));

  const MemoryImage untouched = first.image();
  const Contents contents = second.fill(second.blocks(0), test.random()());
  const Key key = first.key(first.fresh_chunks(1));
  first.store_ok(key, first.blocks(0));
  test.expect_equal(first.lookup(key), Int(1), "chunks found by LOOKUP");
  first.retrieve_ok(key, first.blocks(1));
  second.expect_contents(second.blocks(1), contents, "RETRIEVE into the new buffers");
  first.expect_image(untouched, "the old buffers are not used");
}

void cache_outlives_the_instance(Case& test) {
  EnginePlayer writer = registered_player(test, small_shape(test, 3));
  const Tokens tokens = writer.fresh_chunks(2);
  const Contents contents = writer.fill(writer.blocks(0, 2), test.random()());
  writer.store_ok(writer.key(tokens), writer.blocks(0, 2));
  writer.unregister_kv_cache();
  test.expect_equal(writer.lookup(tokens), Int(0),
                    "chunks found by LOOKUP while no instance has the model");

  EnginePlayer reader(test, small_shape(test, 3), writer.model_name());
  reader.register_kv_cache();
  const Key key = reader.key(tokens);
  test.expect_equal(reader.lookup(key), Int(2), "chunks found by LOOKUP for a new instance");
  reader.retrieve_ok(key, reader.blocks(1, 2));
  reader.expect_contents(reader.blocks(1, 2), contents, "RETRIEVE by a new instance");
}

void instances_share_a_model(Case& test) {
  EnginePlayer writer = registered_player(test, small_shape(test, 3));
  EnginePlayer reader(test, small_shape(test, 3), writer.model_name());
  reader.register_kv_cache();
  const Tokens tokens = writer.fresh_chunks(2);
  const Contents contents = writer.fill(writer.blocks(0, 2), test.random()());
  writer.store_ok(writer.key(tokens), writer.blocks(0, 2));
  const MemoryImage before = reader.image();
  const MemoryImage of_writer = writer.image();
  const Key key = reader.key(tokens);
  test.expect_equal(reader.lookup(key), Int(2), "chunks found by LOOKUP");
  reader.retrieve_ok(key, reader.blocks(1, 2));
  reader.expect_image(reader.with(before, reader.blocks(1, 2), contents),
                      "RETRIEVE by the other instance");
  writer.expect_image(of_writer, "the storing instance's buffers are left alone");
}

// Same bytes a chunk, another meaning of them: 2 layers of head size 8, 4 layers of head size 4.
void other_layout_shares_no_keys(Case& test) {
  EngineShape shape = small_shape(test, 3);
  shape.num_layers = 2;
  shape.head_size = 8;
  EnginePlayer writer = registered_player(test, shape);
  shape.num_layers = 4;
  shape.head_size = 4;
  EnginePlayer reader(test, shape, writer.model_name());
  reader.client().fence();
  reader.send_register(reader.kv_cache(), reader.engine_type(), reader.hints());
  reader.client().fence();

  const Tokens tokens = writer.fresh_chunks(1);
  writer.fill(writer.blocks(0), test.random()());
  writer.store_ok(writer.key(tokens), writer.blocks(0));
  const MemoryImage before = reader.image();
  const Key key = reader.key(tokens);
  writer.lookup(key);
  writer.expect_never_true(
      writer.send_retrieve(key, reader.instance_id(), reader.blocks(0), reader.ready_event()),
      "RETRIEVE of another layout's chunk");
  reader.expect_image(before, "the other layout's buffers are left alone");
}

void unregister_with_a_store_in_flight(Case& test) {
  EnginePlayer player = registered_player(test, small_shape(test, 3));
  ManualHostEvent event(test.device());
  const Tokens tokens = player.fresh_chunks(1);
  const Contents contents = player.fill(player.blocks(0), test.random()());
  const Sent sent = player.send_store(player.key(tokens), player.blocks(0), event.ipc_handle());
  const auto stored = player.client().result<TransferResult>(player.client().reply_to(sent));
  test.expect(stored.ok, "STORE answers (event, True)", describe(Value(stored)));
  player.unregister_kv_cache();
  event.complete();
  player.wait_event(stored.event_handle);
  test.expect_alive("UNREGISTER with a STORE in flight");

  player.register_kv_cache();
  const Key key = player.key(tokens);
  if (player.lookup(key) == Int(1)) {
    player.retrieve_ok(key, player.blocks(1));
    player.expect_contents(player.blocks(1), contents, "what the STORE in flight left");
  }
}

void many_instances(Case& test) {
  std::vector<EnginePlayer> players;
  players.reserve(16);
  for (int i = 0; i < 16; ++i) players.push_back(registered_player(test, tiny_shape(test, 3)));
  for (EnginePlayer& player : players) expect_serves(test, player, "one of 16 instances");
}

}  // namespace

void add_registration_cases(CaseList& cases) {
  cases.add({"Registration.SecondIsIgnored",
             {"registration.twice"},
             "REGISTER of an instance_id already registered is answered, and the first buffers "
             "stay.",
             kNeeds,
             second_is_ignored});
  cases.add({"Registration.SecondOfOtherModelIsIgnored",
             {"registration.twice"},
             "A second REGISTER of an instance_id does not register its model name either.",
             kNeeds,
             second_of_other_model_is_ignored});
  cases.add({"Registration.UnregisterOfUnknownAnswers",
             {"registration.unregister-unknown"},
             "UNREGISTER of an unknown instance_id is answered, and nothing happens.",
             kNeeds,
             unregister_unknown});
  cases.add({"Registration.UnregisterEndsTheInstance",
             {"registration.unregister", "transfer.registered", "lookup.unregistered-model"},
             "After UNREGISTER a STORE of the instance is never True, and its model finds nothing.",
             kNeeds,
             unregister_ends_the_instance});
  cases.add({"Registration.AgainUsesTheNewBuffers",
             {"registration.unregister"},
             "After UNREGISTER the same instance_id can be registered with other buffers.",
             kNeeds,
             again_uses_the_new_buffers});
  cases.add({"Registration.CacheOutlivesTheInstance",
             {"registration.unregister", "lookup.unregistered-model"},
             "What an instance stored is still there for the next instance of the model.",
             kNeeds,
             cache_outlives_the_instance});
  cases.add({"Registration.InstancesShareAModel",
             {"registration.instances"},
             "What one instance stored another of the same model and world size retrieves.",
             kNeeds,
             instances_share_a_model});
  cases.add({"Registration.OtherLayoutSharesNoKeys",
             {"registration.one-layout"},
             "Two layouts under one (model_name, world_size) never read each other's bytes as "
             "their own.",
             kNeeds,
             other_layout_shares_no_keys});
  cases.add({"Registration.UnregisterWithAStoreInFlight",
             {"registration.unregister", "refusal.server-lives"},
             "UNREGISTER while a STORE waits for its event is answered; the server lives, and what "
             "the STORE leaves is exact.",
             kNeeds,
             unregister_with_a_store_in_flight});
  cases.add({"Registration.ManyInstances",
             {"registration.instances"},
             "Sixteen instances of sixteen models serve side by side.",
             kNeeds,
             many_instances});
}

}  // namespace kvc::conformance
