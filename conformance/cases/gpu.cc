// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// Gpu: what only a GPU has the memory for. All else about CUDA is asked by the cases that run on
// either device.
#include "conformance/cases/memory_support.h"

namespace kvc::conformance {
namespace {

const std::vector<Capability> kNeeds = {Capability::kCudaDevice};

constexpr std::size_t kFourGib = std::size_t{1} << 32;
constexpr std::size_t kBlockBytes = std::size_t{2} << 20;

// Three chunks of one block each go from blocks `source` to blocks `target`; `others` stay as they
// are.
void expect_exact(Case& test, EnginePlayer& player, const BlockIds& source, const BlockIds& target,
                  const BlockIds& others) {
  const std::uint64_t seed = test.random()();
  const Contents contents = player.fill(source, seed);
  player.fill(target, seed + 1000);
  const Contents kept = player.fill(others, seed + 2000);
  const Key key = player.key(player.fresh_chunks(source.size()));
  player.store_ok(key, source);
  test.expect_equal(player.lookup(key), Int(source.size()), "chunks found by LOOKUP");
  player.retrieve_ok(key, target);
  player.expect_contents(target, contents, "RETRIEVE into blocks beyond 4 GiB");
  player.expect_contents(others, kept, "blocks 4 GiB before them");
  player.expect_contents(source, contents, "the source");
}

void blocks_beyond(Case& test) {
  constexpr auto kBlocks = static_cast<std::int64_t>(kFourGib / kBlockBytes);
  for (const KvFormat format : {KvFormat::kNlXNbBsHs, KvFormat::kNlXTwoNbBsNhHs}) {
    test.step(std::string(to_string(format)));
    EngineShape shape = large_block_shape(test, kBlockBytes, kBlocks + 64);
    shape.format = format;
    EnginePlayer player = registered_player(test, shape);
    const std::int64_t at = kBlocks;
    expect_exact(test, player, {at + 3, 5, at - 1}, {at, at + 63, at + 9}, {0, 63, 9, 3});
  }
}

// Three layers in one allocation, so that the last one begins beyond 4 GiB.
void storage_beyond(Case& test) {
  EngineShape shape = large_block_shape(test, kBlockBytes, kFourGib / kBlockBytes / 2 + 64);
  shape.num_layers = 3;
  shape.one_storage = true;
  EnginePlayer player = registered_player(test, shape);
  expect_exact(test, player, {1, 2, 1080}, {1087, 3, 900}, {0, 4, 1086});
}

void large_registrations(Case& test) {
  expect_registrations_leave_nothing(test, std::size_t{1} << 30);
}

}  // namespace

void add_gpu_cases(CaseList& cases) {
  cases.add({"Gpu.BlocksBeyondFourGibAreExact",
             {"layout.beyond-4gib", "retrieve.exact"},
             "Blocks more than 4 GiB from the beginning of their tensor are stored and retrieved "
             "exactly, and the blocks 4 GiB before them are left alone.",
             kNeeds,
             blocks_beyond});
  cases.add({"Gpu.StorageBeyondFourGibIsExact",
             {"layout.beyond-4gib", "layout.storage-offset"},
             "A tensor whose storage begins more than 4 GiB into its allocation is stored and "
             "retrieved exactly.",
             kNeeds,
             storage_beyond});
  cases.add({"Gpu.HundredRegistrationsOfAGibLeaveNothing",
             {"registration.releases-memory"},
             "A hundred instances with 1 GiB of their own are registered, store and are "
             "unregistered, one after the other, and all of the memory is free again.",
             kNeeds,
             large_registrations});
}

}  // namespace kvc::conformance
