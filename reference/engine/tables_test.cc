// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// SessionTable and LookupJobs.
#include <gtest/gtest.h>

#include "engine/engine_test_support.h"
#include "engine/lookup_jobs.h"
#include "engine/session_table.h"

namespace kvc {
namespace {

using std::chrono::seconds;

Session session_of(std::size_t num_chunks) {
  return Session{WorkerScopes(Key{}), std::vector<ChunkHash>(num_chunks)};
}

TEST(LookupJobs, AnswerOnceAndPeekOften) {
  test::FakeClock clock;
  LookupJobs jobs(clock.clock());
  jobs.put(1, 7);
  EXPECT_EQ(jobs.peek(1), 7U);
  EXPECT_EQ(jobs.peek(1), 7U);
  EXPECT_EQ(jobs.take(1), 7U);
  EXPECT_FALSE(jobs.take(1));
  EXPECT_FALSE(jobs.peek(1));
  EXPECT_FALSE(jobs.take(2));
}

TEST(LookupJobs, ANewAnswerReplacesTheOld) {
  test::FakeClock clock;
  LookupJobs jobs(clock.clock());
  jobs.put(1, 7);
  jobs.put(1, 8);
  EXPECT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs.take(1), 8U);
}

TEST(LookupJobs, AreBoundedInTimeAndNumber) {
  test::FakeClock clock;
  LookupJobs jobs(clock.clock(), seconds(600), 10);
  for (RequestNumber request = 0; request < 100; ++request) jobs.put(request, request);
  EXPECT_EQ(jobs.size(), 10U);
  EXPECT_FALSE(jobs.peek(89));
  EXPECT_EQ(jobs.peek(90), 90U);
  clock.advance(seconds(600));
  EXPECT_FALSE(jobs.peek(99));
  EXPECT_FALSE(jobs.take(99));
  EXPECT_EQ(jobs.size(), 0U);
}

TEST(SessionTable, EndsASessionOnce) {
  test::FakeClock clock;
  SessionTable sessions(clock.clock());
  sessions.begin(1, session_of(3));
  sessions.extend(1, std::vector<ChunkHash>(5));
  sessions.extend(1, std::vector<ChunkHash>(2));  // shorter: tells nothing new
  sessions.extend(2, std::vector<ChunkHash>(5));  // nobody began it
  const auto ended = sessions.end(1);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->chunks.size(), 5U);
  EXPECT_FALSE(sessions.end(1));
  EXPECT_FALSE(sessions.end(2));
}

TEST(SessionTable, IsBoundedInTimeAndMemory) {
  test::FakeClock clock;
  SessionTable sessions(clock.clock(), seconds(600), 100'000);
  for (RequestNumber request = 0; request < 100; ++request)
    sessions.begin(request, session_of(100));
  EXPECT_LT(sessions.size(), 32U);
  EXPECT_GT(sessions.size(), 10U);
  EXPECT_TRUE(sessions.end(99));
  clock.advance(seconds(600));
  EXPECT_FALSE(sessions.end(98));
  EXPECT_EQ(sessions.size(), 0U);
}

TEST(RequestNumber, TellsRequestsApart) {
  EXPECT_EQ(request_number("a"), request_number("a"));
  EXPECT_NE(request_number("a"), request_number("b"));
  EXPECT_NE(request_number(""), request_number("a"));
}

}  // namespace
}  // namespace kvc
