// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Memory: whose it is, and until when. An instance's memory is its process's; the server opens it,
// and lets it go. What does not open is in registration_refusals.cc.
#include "conformance/cases/expect_serves.h"
#include "conformance/cases/memory_support.h"
#include "conformance/harness/exporter.h"

namespace kvc::conformance {
namespace {

const std::vector<Capability> kNeeds = {Capability::kDevice};

// The player's registration with all its tensors in another process's memory.
KVCache in_memory_of(const EnginePlayer& player, const Exporter& owner) {
  KVCache cache = player.kv_cache();
  for (IpcTensor& tensor : cache) {
    Bytes& handle = std::get<TorchIpcHandle>(tensor.handle).handle;
    std::copy(owner.memory_handle().begin(), owner.memory_handle().end(), handle.begin() + 2);
  }
  return cache;
}

std::size_t tensor_bytes(const EnginePlayer& player) {
  return player.geometry().tensors().front().size_bytes;
}

// What an instance in `owner`'s memory stored: that memory's byte, everywhere.
void expect_exported_bytes(Case& test, EnginePlayer& player, const Key& key) {
  player.fill_all(0);
  player.retrieve_ok(key, player.blocks(1));
  for (const Bytes& content : player.contents(player.blocks(1)))
    test.expect(content == Bytes(content.size(), kExportedByte),
                "what the process stored before it ended", "other bytes");
}

// An instance whose process is gone can be unregistered, and registered anew in other memory.
void expect_can_be_replaced(Case& test, EnginePlayer& player, const std::string& what) {
  player.unregister_kv_cache();
  player.register_kv_cache();
  expect_serves(test, player, "the instance_id registered anew " + what);
}

void killed_while_registered(Case& test) {
  EnginePlayer player(test, small_shape(test, 3), test.unique("model"));
  Exporter owner(test, tensor_bytes(player));
  player.client().result<None>(player.client().reply_to(
      player.send_register(in_memory_of(player, owner), player.engine_type(), player.hints())));
  const Key key = player.key(player.fresh_chunks(1));
  player.store_ok(key, player.blocks(0), "STORE while the process lives");

  owner.kill();
  test.expect_alive("the end of a process whose memory is registered");
  EnginePlayer other(test, small_shape(test, 3), player.model_name());
  other.register_kv_cache();
  test.expect_equal(other.lookup(key), Int(1), "chunks found by LOOKUP after the process ended");
  expect_exported_bytes(test, other, key);
  expect_serves(test, other, "another instance of the model");
  expect_can_be_replaced(test, player, "after its process was killed");
}

void killed_before_its_event(Case& test) {
  EnginePlayer player(test, small_shape(test, 3), test.unique("model"));
  EnginePlayer other(test, small_shape(test, 3), player.model_name());
  other.register_kv_cache();
  Exporter owner(test, tensor_bytes(player), true);
  player.client().result<None>(player.client().reply_to(
      player.send_register(in_memory_of(player, owner), player.engine_type(), player.hints())));
  const Key key = player.key(player.fresh_chunks(1));
  const Sent sent = player.send_store(key, player.blocks(0), owner.event_handle());
  const auto stored = player.client().result<TransferResult>(player.client().reply_to(sent));
  test.expect(stored.ok, "STORE answers (event, True)", describe(Value(stored)));
  test.expect_equal(other.lookup(key), Int(0), "chunks found by LOOKUP before the event");

  owner.kill();
  test.expect_alive("the end of a process for whose event a STORE waits");
  expect_serves(test, other, "another instance of the model");
  expect_can_be_replaced(test, player, "though its STORE may wait for ever");
  // A device may complete the events of a process that ended. Then the STORE's bytes are exact.
  if (other.lookup(key) == Int(1)) expect_exported_bytes(test, other, key);
}

void hundred_registrations(Case& test) {
  constexpr std::size_t kSize = std::size_t{8} << 20;
  expect_registrations_leave_nothing(test, kSize);
}

}  // namespace

void add_memory_cases(CaseList& cases) {
  cases.add({"Memory.HundredRegistrationsLeaveNothing",
             {"registration.releases-memory", "registration.unregister"},
             "A hundred instances with memory of their own are registered, store and are "
             "unregistered, one after the other, and all of the memory is free again.",
             kNeeds,
             hundred_registrations});
  cases.add({"Memory.OwnerKilledWhileRegistered",
             {"registration.owner-dies", "refusal.server-lives"},
             "A process is killed while its memory is registered: what it stored stays, others "
             "are served, and its instance can be unregistered and registered anew.",
             kNeeds,
             killed_while_registered});
  cases.add({"Memory.OwnerKilledBeforeItsEvent",
             {"registration.owner-dies", "refusal.server-lives"},
             "A process is killed while a STORE waits for its event: others are served, and its "
             "instance can be unregistered and registered anew.",
             kNeeds,
             killed_before_its_event});
}

}  // namespace kvc::conformance
