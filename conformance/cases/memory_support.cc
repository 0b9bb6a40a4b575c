// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include "conformance/cases/memory_support.h"

#include <chrono>
#include <thread>

#include "conformance/harness/run_context.h"
#include "kvc/device/memory_gauge.h"

namespace kvc::conformance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kRounds = 100;
constexpr std::size_t kBlockBytes = std::size_t{64} << 10;
// Memory may go a little after the reply. How often it is looked at again.
constexpr std::chrono::milliseconds kLook{5};

std::size_t free_now(Case& test) {
  const std::optional<std::size_t> free = free_memory_bytes(test.device());
  if (!free) test.harness("the device does not tell how much memory is free");
  return *free;
}

void one_round(Case& test, std::size_t size_bytes) {
  EnginePlayer player =
      registered_player(test, large_block_shape(test, kBlockBytes, size_bytes / kBlockBytes));
  player.store_ok(player.key(player.fresh_chunks(1)), player.blocks(0));
  player.unregister_kv_cache();
}

}  // namespace

EngineShape large_block_shape(Case& test, std::size_t block_bytes, std::size_t num_blocks) {
  EngineShape shape;
  shape.format = KvFormat::kNlXNbBsHs;
  shape.dtype = "uint8";
  shape.num_layers = 1;
  shape.num_blocks = num_blocks;
  shape.block_size = test.chunk_size();
  shape.num_heads = 1;
  shape.head_size = block_bytes / shape.block_size;
  return shape;
}

void expect_registrations_leave_nothing(Case& test, std::size_t size_bytes) {
  one_round(test, size_bytes);  // what a server makes once is there now
  const std::size_t before = free_now(test);
  std::size_t round = 0;
  auto until = Clock::now() + test.context().settings().timeout;
  while (round < kRounds) {
    test.step("registration " + std::to_string(round + 1) + " of " + std::to_string(kRounds));
    try {
      one_round(test, size_bytes);
      ++round;
      until = Clock::now() + test.context().settings().timeout;
    } catch (const DeviceError& error) {  // no memory is left: perhaps it is about to go
      if (Clock::now() > until)
        test.wrong("the memory of instances that were unregistered is free again",
                   "after " + std::to_string(round) + " of them: " + error.what());
      std::this_thread::sleep_for(kLook);
    }
  }
  const std::size_t allowed = kRounds * size_bytes / 2;
  until = Clock::now() + test.context().settings().timeout;
  std::size_t taken = 0;
  while (true) {
    const std::size_t now = free_now(test);
    taken = before > now ? before - now : 0;
    if (taken < allowed) return;
    if (Clock::now() > until) break;
    std::this_thread::sleep_for(kLook);
  }
  test.wrong("the memory of instances that were unregistered is free again",
             std::to_string(taken >> 20U) + " MiB of " +
                 std::to_string((kRounds * size_bytes) >> 20U) + " MiB are still taken");
}

}  // namespace kvc::conformance
