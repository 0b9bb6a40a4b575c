// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
#include <gtest/gtest.h>

#include "conformance/watch/latency.h"
#include "conformance/watch/lock_watch.h"
#include "conformance/watch/release_hint.h"
#include "kvc/protocol/codec.h"

namespace kvc::conformance {
namespace {

TEST(Latency, NamesThePercentileWithinItsStep) {
  Latency latency;
  EXPECT_EQ(latency.percentile(0.5), 0);
  for (int us = 1; us <= 1000; ++us) latency.add(us);
  EXPECT_EQ(latency.count(), 1000u);
  EXPECT_NEAR(latency.percentile(0.5), 500, 15);
  EXPECT_NEAR(latency.percentile(0.99), 990, 30);
  EXPECT_EQ(latency.percentile(1), 1000);
  EXPECT_EQ(latency.max_us(), 1000);
}

TEST(Latency, TakesAnyTime) {
  Latency latency;
  latency.add(0);
  latency.add(-5);
  latency.add(1e300);
  EXPECT_EQ(latency.count(), 3u);
}

Bytes frame_of(const Int& number) { return encoded(number); }

TEST(ReleaseHint, NamesWhatAnotherReleaseMeans) {
  const auto hint = [](const std::vector<Bytes>& frames) {
    const std::vector<ByteView> views(frames.begin(), frames.end());
    return release_hint(registry_0_4_5(), views);
  };
  const Bytes uid = frame_of(1);
  EXPECT_EQ(hint({uid, frame_of(19)}), "NOOP of 0.4.6");
  EXPECT_EQ(hint({uid, frame_of(23)}), "a request of 0.4.6 or later");
  EXPECT_EQ(hint({uid, frame_of(40)}), "a request of 0.5.3 or later");
  EXPECT_EQ(hint({uid, frame_of(99)}), "");
  EXPECT_EQ(hint({uid, frame_of(0)}), "");
  EXPECT_EQ(hint({uid, encoded(std::string("NOOP"))}),
            "a type by its name, as 0.5.6 and later take it");
  EXPECT_EQ(hint({uid, Bytes{0xc1}}), "");
  EXPECT_EQ(hint({uid}), "");
}

Key key_of(const std::string& request, std::uint64_t start, std::uint64_t end, Int world = 1) {
  Key key;
  key.request_id = request;
  key.world_size = world;
  key.start = start;
  key.end = end;
  return key;
}

LockWatch watch_of_chunks_of(std::uint64_t tokens) {
  LockWatch watch;
  watch.set_chunk_size(tokens);
  return watch;
}

TEST(LockWatch, KnowsWhatNeitherRetrieveNorFreeGaveBack) {
  LockWatch watch = watch_of_chunks_of(16);
  watch.looked_up(key_of("r", 0, 64), 1);
  watch.hit("r", 4);
  ASSERT_EQ(watch.held().size(), 1u);
  watch.retrieved(key_of("r", 0, 16));
  watch.freed(key_of("r", 16, 32), 1);
  const auto held = watch.ended("r");
  ASSERT_TRUE(held);
  EXPECT_EQ(held->num_chunks, 2u);
  EXPECT_EQ(held->of_chunks, 4u);
  EXPECT_FALSE(watch.ended("r")) << "it was forgotten";
}

TEST(LockWatch, CountsALockForEachRankThatReadsOneObject) {
  LockWatch watch = watch_of_chunks_of(16);
  watch.looked_up(key_of("r", 0, 16), 2);
  watch.hit("r", 1);
  watch.retrieved(key_of("r", 0, 16));
  EXPECT_EQ(watch.held().size(), 1u);
  watch.retrieved(key_of("r", 0, 16));
  EXPECT_TRUE(watch.held().empty());
}

TEST(LockWatch, CountsEachWorkersObjects) {
  LockWatch watch = watch_of_chunks_of(16);
  watch.looked_up(key_of("r", 0, 16, 2), 2);
  watch.hit("r", 1);
  watch.retrieved(key_of("r", 0, 16, 2));
  EXPECT_EQ(watch.held().size(), 1u);
  watch.retrieved(key_of("r", 0, 16, 2));
  EXPECT_TRUE(watch.held().empty());
}

TEST(LockWatch, IgnoresWhatItNeverSaw) {
  LockWatch watch = watch_of_chunks_of(16);
  watch.hit("r", 4);
  watch.retrieved(key_of("r", 0, 64));
  watch.freed(key_of("r", 0, 64), Int(-1));
  EXPECT_TRUE(watch.held().empty());
  watch.looked_up(key_of("q", 0, 64), 1);
  watch.hit("q", Int(-1));
  watch.hit("q", 0);
  EXPECT_FALSE(watch.ended("q"));
}

TEST(LockWatch, ClearDropsAll) {
  LockWatch watch = watch_of_chunks_of(16);
  watch.looked_up(key_of("r", 0, 64), 1);
  watch.hit("r", 4);
  watch.cleared();
  EXPECT_TRUE(watch.held().empty());
}

}  // namespace
}  // namespace kvc::conformance
